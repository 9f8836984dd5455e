import { counted } from '../core/counted.js';
import { activeSession, type DialogState } from '../core/dialogs.js';
import type { Journal } from '../core/journal.js';
import type { Ledger } from '../core/ledger.js';
import type { Hash } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import type { Check } from '../core/ports.js';
import type { CheckpointStore } from '../core/store.js';
import type { DerivedState } from './derived-state.js';
import type { DialogBook, Made } from './dialog-book.js';
import type { EventStream } from './event-stream.js';
import type { Patches } from './patches.js';
import type { Projection } from './projection.js';

export interface ExaminationDeps {
  readonly book: DialogBook;
  readonly ledger: Ledger;
  readonly store: CheckpointStore;
  readonly journal: Journal;
  readonly projection: Projection;
  readonly derived: DerivedState;
  readonly patches: Patches;
  readonly events: EventStream;
  readonly queue: Queue;
  /** Undefined once what was saved has been read; otherwise why not. */
  readonly unread: () => string | undefined;
  readonly warnings: () => readonly string[];
}

/** Each costs a pass over the ledger; the ones in use are the ones that matter. */
const MOST_JOURNALS = 50;
const MOST_NAMED = 5;
const MOST_ATTEMPTS = 5;
/** Nothing holds a line twice, and nobody but the reader can do without it. */
const LOST_LINES =
  '. This cannot be mended: all other lines, before and after, are still read, and new ones follow';
const REPAIRABLE = '. `smithyd doctor --repair` makes it again';
const STEPS = ['ledger', 'store', 'dialogs', 'derived', 'journals', 'patches'] as const;

/** The checks of `doctor` that concern what was saved. Only looks, unless it is asked to repair. */
export class Examination {
  readonly #deps: ExaminationDeps;

  constructor(deps: ExaminationDeps) {
    this.#deps = deps;
  }

  async run(repair: boolean): Promise<Check[]> {
    const checks: Check[] = [];
    for (const name of STEPS) {
      this.#tell(name, 0);
      checks.push({ name, ...(await this.#check(name, repair)) });
      this.#tell(name, 100);
    }
    const left = this.#deps.warnings();
    if (left.length > 0) checks.push({ name: 'old dialogs', ok: false, detail: named(left) });
    return checks;
  }

  #tell(step: string, percent: number): void {
    this.#deps.events.publish({ type: 'progress', what: 'doctor', step, percent });
  }

  /** A check that cannot be made is one that failed, and the others are made all the same. */
  async #check(name: (typeof STEPS)[number], repair: boolean): Promise<Finding> {
    try {
      if (name === 'ledger') return await this.#ledger();
      if (name === 'store') return await this.#store();
      const unread = this.#deps.unread();
      if (unread !== undefined) return { ok: false, detail: unread };
      if (name === 'dialogs') return await this.#dialogs();
      if (name === 'derived') return await this.#derived(repair);
      return name === 'patches' ? await this.#patches(repair) : await this.#journals(repair);
    } catch (error) {
      return { ok: false, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  async #ledger(): Promise<Finding> {
    const { events, damage, damageCount } = await this.#deps.ledger.verify();
    if (damageCount === 0)
      return { ok: true, detail: `${counted(events, 'line')}, the chain is whole` };
    const lines = damage.map(({ file, line, detail }) => {
      return line === 0 ? `${file}: ${detail}` : `${file}, line ${line}: ${detail}`;
    });
    return { ok: false, detail: `${named(lines, damageCount)}${LOST_LINES}` };
  }

  async #store(): Promise<Finding> {
    const { store } = this.#deps;
    let told = 0;
    const { problems, damaged } = await store.check((percent) => {
      if (percent >= told + 10) this.#tell('store', (told = percent));
    });
    const { objects, packs } = store.sizes();
    const wrong = [...damaged.map(({ file, detail }) => `${file}: ${detail}`), ...problems];
    if (wrong.length > 0) return { ok: false, detail: named(wrong) };
    return {
      ok: true,
      detail: `${counted(objects, 'object')} in ${counted(packs, 'pack')}, nothing is missing`,
    };
  }

  async #dialogs(): Promise<Finding> {
    const dialogs = this.#deps.book.list();
    const wrong: string[] = [];
    // In the queue: on the way from a branch to its line the two differ rightly.
    for (const { id } of dialogs) {
      wrong.push(...(await this.#deps.queue.run(() => this.#astray(id))));
    }
    const commits = dialogs.flatMap(({ id }) => this.#deps.book.made(id).map(commitOf));
    wrong.push(...(await this.#missing(commits)));
    if (wrong.length > 0) return { ok: false, detail: named(wrong) };
    const checkpoints = `${counted(commits.length, 'checkpoint')} ${commits.length === 1 ? 'is' : 'are'} there`;
    const all = counted(dialogs.length, 'dialog');
    return { ok: true, detail: `${all}, branches are where the ledger says, ${checkpoints}` };
  }

  /** What a checkpoint needs is followed from the branches; here each of them is looked for. */
  async #missing(commits: readonly Hash[]): Promise<string[]> {
    const there = await this.#deps.store.has(commits);
    const gone = commits.filter((commit) => !there.has(commit));
    return gone.map((commit) => `checkpoint ${commit.slice(0, 8)} is not there`);
  }

  /** Whether memory is what all lines lead to, and what was put aside is what was written. */
  async #derived(repair: boolean): Promise<Finding> {
    const { derived } = this.#deps;
    const wrong = (await derived.differing(repair)).map(
      (part) => `${part} is not what it should be`,
    );
    const { damaged } = await derived.check();
    wrong.push(...damaged.map(({ file, detail }) => `${file}: ${detail}`));
    if (wrong.length === 0) return { ok: true, detail: 'equal to what all lines lead to' };
    if (!repair) return { ok: false, detail: `${named(wrong)}${REPAIRABLE}` };
    if (damaged.length > 0) await derived.saveAnew();
    return { ok: true, detail: `made again from the lines: ${named(wrong)}`, repaired: true };
  }

  async #patches(repair: boolean): Promise<Finding> {
    const { files, damaged } = await this.#deps.patches.check(repair);
    if (damaged.length === 0) {
      const all = files === 1 ? '1 patch' : `${files} patches`;
      return { ok: true, detail: `${all}, as the events say` };
    }
    const wrong = named(damaged.map(({ file, detail }) => `${file}: ${detail}`));
    if (!repair) return { ok: false, detail: `${wrong}${REPAIRABLE}` };
    return { ok: true, detail: `made again: ${wrong}`, repaired: true };
  }

  async #astray(id: DialogState['id']): Promise<string[]> {
    const { book, store } = this.#deps;
    const dialog = book.list().find((one) => one.id === id);
    if (dialog === undefined) return [];
    const branches = await store.branches(id).catch(() => new Map<string, string>());
    const expected = { main: dialog.approved, [activeSession(dialog).name]: dialog.tip };
    return Object.entries(expected)
      .filter(([name, commit]) => branches.get(name) !== commit)
      .map(([name, commit]) => `${name} of ${id} is not at ${commit.slice(0, 8)}`);
  }

  async #journals(repair: boolean): Promise<Finding> {
    const { book, projection, queue } = this.#deps;
    const all = book.list().toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
    const dialogs = all.slice(0, MOST_JOURNALS);
    const wrong: string[] = [];
    for (const [number, { id }] of dialogs.entries()) {
      const why = await this.whyJournalDiffers(id);
      if (why !== undefined && repair) {
        await projection.rebuild(book, id, (turn) => queue.run(turn));
      }
      if (why !== undefined) wrong.push(`${id}: ${why}`);
      this.#tell('journals', Math.floor((100 * number) / dialogs.length));
    }
    const checked = `${dialogs.length} of ${all.length} checked`;
    if (wrong.length === 0) return { ok: true, detail: `${checked}, equal to the ledger` };
    if (!repair) return { ok: false, detail: `${named(wrong)}${REPAIRABLE}` };
    return { ok: true, detail: `made again from the ledger: ${named(wrong)}`, repaired: true };
  }

  async whyJournalDiffers(id: DialogState['id']): Promise<string | undefined> {
    const { book, journal, projection } = this.#deps;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const before = book.lastSeq(id);
      const facts = await projection.facts(id);
      // Otherwise somebody wrote while the ledger was being read.
      if (book.lastSeq(id) === before) return journal.whyDifferent(id, facts);
    }
    return undefined;
  }
}

function commitOf({ commit }: Made): Hash {
  return commit as string as Hash;
}

type Finding = Omit<Check, 'name'>;

function named(problems: readonly string[], total = problems.length): string {
  const shown = problems.slice(0, MOST_NAMED).join('; ');
  return total > MOST_NAMED ? `${shown}; and ${total - MOST_NAMED} more` : shown;
}
