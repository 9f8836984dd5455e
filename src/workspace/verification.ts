import type { BlockFiles } from '../core/event-blocks.js';
import type { CheckedFiles, DamagedFile } from '../core/ports.js';
import type { Bookmarks } from './bookmarks.js';
import type { Examination, ExaminationDeps } from './examination.js';
import type { Projection } from './projection.js';

export type VerificationDeps = Pick<
  ExaminationDeps,
  'ledger' | 'store' | 'book' | 'events' | 'derived' | 'patches' | 'queue'
> & {
  readonly examination: Pick<Examination, 'whyJournalDiffers'>;
  readonly projection: Pick<Projection, 'differing'>;
  readonly bookmarks: Pick<Bookmarks, 'whyFileDiffers'>;
  readonly blockFiles: BlockFiles;
  /** What only its own sum tells of. */
  readonly stateFiles: CheckedFiles;
};

const STEPS = [
  'ledger',
  'derived',
  'store',
  'journals',
  'patches',
  'blocks',
  'small files',
] as const;

interface Looked {
  readonly files: number;
  readonly damaged: readonly DamagedFile[];
}

/** Reads every file that has a sum or can be made again, and names those that are not as written. */
export class Verification {
  readonly #deps: VerificationDeps;

  constructor(deps: VerificationDeps) {
    this.#deps = deps;
  }

  async run() {
    const damaged: DamagedFile[] = [];
    let files = 0;
    for (const step of STEPS) {
      this.#tell(step, 0);
      const looked = await this.#look(step).catch((error: unknown): Looked => {
        const detail = error instanceof Error ? error.message : String(error);
        return { files: 0, damaged: [{ file: step, detail: `it cannot be checked: ${detail}` }] };
      });
      damaged.push(...looked.damaged);
      files += looked.files;
      this.#tell(step, 100);
    }
    return { ok: damaged.length === 0, files, damaged };
  }

  #tell(step: string, percent: number): void {
    this.#deps.events.publish({ type: 'progress', what: 'verify', step, percent });
  }

  async #look(step: (typeof STEPS)[number]): Promise<Looked> {
    const { derived, patches } = this.#deps;
    switch (step) {
      case 'ledger':
        return this.#ledger();
      case 'derived':
        return derived.check();
      case 'store':
        return this.#store();
      case 'journals':
        return this.#journals();
      case 'patches':
        return patches.check(false);
      case 'blocks':
        return this.#deps.blockFiles.check();
      case 'small files':
        return this.#smallFiles();
    }
  }

  async #ledger(): Promise<Looked> {
    const { files, damage } = await this.#deps.ledger.verify();
    const damaged = damage.map(({ file, line, detail }) => ({
      file: `ledger/${file}`,
      detail: line === 0 ? detail : `line ${line}: ${detail}`,
    }));
    return { files, damaged };
  }

  /** Its files by their sums; git is asked about what no sum tells: what is not there at all. */
  async #store(): Promise<Looked> {
    const { store } = this.#deps;
    const { problems, ...looked } = await store.check((percent) => this.#tell('store', percent));
    if (looked.damaged.length > 0) return looked;
    return { ...looked, damaged: problems.map((detail) => ({ file: 'store', detail })) };
  }

  async #smallFiles(): Promise<Looked> {
    const { stateFiles, queue, projection, bookmarks, book } = this.#deps;
    const own = await stateFiles.check();
    const made = await queue.share(() => {
      const detail = bookmarks.whyFileDiffers();
      const named = detail === undefined ? [] : [{ file: 'ledger/bookmarks.json', detail }];
      return { named, ...projection.differing(book) };
    });
    return {
      files: own.files + made.files + 1,
      damaged: [...own.damaged, ...made.named, ...made.damaged],
    };
  }

  async #journals(): Promise<Looked> {
    const { book, examination, queue } = this.#deps;
    // Before the ledger is read there are none to speak of.
    await queue.share(() => undefined);
    const damaged: DamagedFile[] = [];
    const dialogs = book.list();
    for (const { id } of dialogs) {
      const detail = await examination.whyJournalDiffers(id);
      if (detail !== undefined) damaged.push({ file: `dialogs/${id}/journal.sqlite`, detail });
    }
    return { files: dialogs.length, damaged };
  }
}
