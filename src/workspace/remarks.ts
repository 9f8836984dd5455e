import type { NewEvent } from '../core/ledger.js';
import { toPath } from '../core/paths.js';
import type { Clock } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import { placeOf } from './adoption.js';
import type { DialogBook } from './dialog-book.js';
import type { EditBook } from './edit-book.js';
import { redactionWarnings } from './redaction.js';

export interface RemarkDeps {
  readonly root: string;
  readonly version: string;
  readonly book: DialogBook;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly queue: Queue;
  readonly clock: Clock;
}

interface Said {
  readonly files?: readonly string[] | undefined;
  readonly artifacts?: readonly string[] | undefined;
  readonly agent?: { readonly name: string; readonly version?: string | undefined } | undefined;
  readonly runId?: string | undefined;
  readonly dialog?: string | undefined;
}

export interface NoteRequest extends Said {
  readonly text: string;
}

export interface EvalRequest extends Said {
  readonly name: string;
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  readonly passed?: boolean | undefined;
  readonly report?: string | undefined;
}

/** What a line tells of an evaluation. */
export interface Evaluation {
  readonly name: string;
  readonly metrics: Record<string, number>;
  readonly passed?: boolean;
  readonly report?: string;
}

/** What people and programs say about the work, between the lines that tell of it. */
export class Remarks {
  readonly #deps: RemarkDeps;

  constructor(deps: RemarkDeps) {
    this.#deps = deps;
  }

  note({ text, ...said }: NoteRequest) {
    return this.#write(said, { action_type: 'meta_note', rationale: text, remark: true });
  }

  recordEval({ name, metrics = {}, passed, report, ...said }: EvalRequest) {
    const verdict = passed === undefined ? '' : passed ? ', passed' : ', failed';
    const evaluation: Evaluation = {
      ...{ name, metrics: { ...metrics } },
      ...(passed === undefined ? {} : { passed }),
      ...(report === undefined ? {} : { report }),
    };
    const message = `${name}${verdict}`;
    return this.#write(said, { action_type: 'eval_run', message, eval: evaluation });
  }

  #write(said: Said, line: Pick<NewEvent, 'action_type'> & Partial<NewEvent>) {
    const { root, version, book, editBook, queue, clock } = this.#deps;
    const { files = [], artifacts = [], agent, runId = null } = said;
    const paths = files.map((path) => toPath(path, root));
    return queue.share(async () => {
      const dialog = book.find(said.dialog);
      const author =
        agent === undefined
          ? { name: 'smithyd', version, kind: 'daemon' }
          : { name: agent.name, version: agent.version ?? null, kind: 'agent' };
      const ts = new Date(clock.now()).toISOString();
      const place = dialog === undefined ? {} : placeOf(dialog);
      const [entry] = await editBook.append([
        { ts, author, ...place, run_id: runId, files: paths, artifacts: [...artifacts], ...line },
      ]);
      if (entry === undefined) throw new Error('a remark left no line');
      const warnings = redactionWarnings([entry]);
      return { event: entry.id, ...(warnings.length === 0 ? {} : { warnings }) };
    });
  }
}
