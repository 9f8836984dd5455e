import {
  baselineOf,
  compareBaseline,
  type Baseline,
  type Present,
} from '../core/changes/baseline.js';
import { consoleNews } from '../core/changes/console-news.js';
import { requireMarkName } from '../core/changes/mark-name.js';
import type { Derived } from '../core/derived.js';
import { SmithyError } from '../core/errors.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import { didYouMean, nearest } from '../core/nearest.js';
import type { Clock } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { EditBook } from './edit-book.js';
import type { Telemetry } from './telemetry.js';

export interface BaselineDeps {
  readonly telemetry: Telemetry;
  readonly book: BaselineBook;
  readonly editBook: Pick<EditBook, 'append'>;
  readonly queue: Queue;
  readonly clock: Clock;
  readonly version: string;
}

/** What a line says of a baseline. */
interface BaselineNote {
  readonly what: 'saved' | 'deleted';
  readonly baseline: Baseline;
}

const MOST = 50;
const MOST_ENDPOINTS = 200;

/** All baselines as the ledger tells them. */
export class BaselineBook implements Derived {
  readonly name = 'baselines';
  readonly form = 1;
  readonly #known = new Map<string, Baseline>();

  reset(): void {
    this.#known.clear();
  }

  save(): unknown[] {
    return this.list();
  }

  load(piece: unknown): void {
    const baseline = piece as Baseline;
    this.#known.set(baseline.name, baseline);
  }

  fold(entry: LedgerEntry): void {
    const note = entry['baselined'] as BaselineNote | undefined;
    if (note === undefined) return;
    const { what, baseline } = note;
    this.#known.delete(baseline.name);
    if (what === 'saved') this.#known.set(baseline.name, baseline);
  }

  get(name: string): Baseline | undefined {
    return this.#known.get(name);
  }

  /** @throws SmithyError MARK_NOT_FOUND */
  require(name: string): Baseline {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const near = nearest(name, this.#known.keys());
    throw new SmithyError('MARK_NOT_FOUND', `There is no baseline ${name.slice(0, 100)}.`, {
      hint: didYouMean(near) ?? 'See `smithyd baseline list` (list_baselines).',
      data: { id: name, near },
    });
  }

  list(): Baseline[] {
    return [...this.#known.values()];
  }
}

/** Remembers how the running program did when it was well, and says what is worse now. */
export class Baselines {
  readonly #deps: BaselineDeps;

  constructor(deps: BaselineDeps) {
    this.#deps = deps;
  }

  save({
    name,
    description,
  }: {
    readonly name: string;
    readonly description?: string | undefined;
  }) {
    requireMarkName(name);
    return this.#deps.queue.run(async () => {
      const { book, clock } = this.#deps;
      if (book.get(name) === undefined && book.list().length >= MOST) throw tooMany();
      const at = new Date(clock.now()).toISOString();
      const said = { at, description: description ?? null };
      const baseline = baselineOf(name, this.#present(), said);
      await this.#record({ what: 'saved', baseline });
      return summary(baseline);
    });
  }

  compare({ name, tolerance }: { readonly name: string; readonly tolerance?: number | undefined }) {
    return this.#deps.queue.share(() => {
      const baseline = this.#deps.book.require(name);
      const { regressions, improvements } = compareBaseline(baseline, this.#present(), tolerance);
      const status = regressions.length === 0 ? ('match' as const) : ('regression' as const);
      return { name, status, regressions, improvements, saved_at: baseline.at };
    });
  }

  list() {
    const { queue, book } = this.#deps;
    return queue.share(() => ({ baselines: book.list().map(summary) }));
  }

  delete(name: string) {
    return this.#deps.queue.run(async () => {
      const baseline = this.#deps.book.require(name);
      await this.#record({ what: 'deleted', baseline });
      return { name };
    });
  }

  /** What the buffers hold, and how every endpoint did last. */
  #present(): Present {
    const { telemetry } = this.#deps;
    const { errors, warnings } = consoleNews({ window: telemetry.ring('console').since(0) });
    return {
      endpoints: telemetry.endpoints.snapshot(MOST_ENDPOINTS),
      errors,
      warnings,
      connections: telemetry.openSockets(),
    };
  }

  async #record(note: BaselineNote): Promise<void> {
    const { editBook, book, clock, version } = this.#deps;
    const { what, baseline } = note;
    const line: NewEvent = {
      ts: new Date(clock.now()).toISOString(),
      author: { name: 'smithyd', version, kind: 'daemon' },
      action_type: 'baseline',
      message: `${what === 'saved' ? 'Baseline' : 'Deleted baseline'} ${baseline.name}`,
      baselined: note,
    };
    const entries = await editBook.append([line]);
    for (const entry of entries) book.fold(entry);
  }
}

function summary({ name, at, description, endpoints, errors, warnings, connections }: Baseline) {
  return {
    name,
    created_at: at,
    description,
    endpoints: Object.keys(endpoints).length,
    console_errors: errors.length,
    console_warnings: warnings.length,
    websockets: connections.length,
  };
}

function tooMany(): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `There are ${MOST} baselines already.`, {
    hint: 'Delete one that is not needed: `smithyd baseline rm NAME` (delete_baseline).',
    data: { limit: 'baselines', value: MOST },
  });
}
