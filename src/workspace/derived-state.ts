import type { Derived, DerivedFiles } from '../core/derived.js';
import { NO_INDEX, type EventIndex, type IndexMark } from '../core/event-index.js';
import type { Ledger, LedgerEntry, LedgerHead } from '../core/ledger.js';
import type { Clock, Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import { replay } from './replay.js';

export interface DerivedDeps {
  readonly ledger: Pick<Ledger, 'read' | 'head' | 'hashOf'>;
  readonly files: DerivedFiles;
  readonly index: EventIndex;
  readonly all: readonly Derived[];
  /** The same as of before the first line. */
  readonly fresh: () => { readonly all: readonly Derived[]; readonly index: EventIndex };
  /** Everything that writes lines does it in a turn: in one of its own all of it is at one line. */
  readonly turns: Pick<Queue, 'run'>;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Percent of the lines, while many of them are read. */
  readonly progress: (percent: number) => void;
  /** One sentence for a person. */
  readonly tell: (sentence: string) => void;
}

interface Header {
  readonly version: string;
  readonly seq: number;
  readonly hash: string;
  readonly forms: Readonly<Record<string, number>>;
}

interface Captured {
  readonly header: Header;
  readonly pieces: readonly (readonly [string, readonly unknown[]])[];
  readonly mark: IndexMark;
}

/** So many lines are read again after a crash, in a tenth of a second. */
const EVERY = 5_000;
/** Below this nobody notices how long it takes. */
const MANY = 20_000;
/** Others have their turn after so long. */
const SLICE_MS = 8;
/** So long after a failure it is not tried again with every line. */
const RETRY_MS = 30_000;
/** A stop does not wait longer for it; the next start reads a few more lines. */
const STOP_MS = 2_000;

/** What is in memory of the ledger: read from where it was put aside, and from the lines after it. */
export class DerivedState {
  readonly #deps: DerivedDeps;
  /** What of it is on disk. */
  #saved = { seq: 0, mark: NO_INDEX };
  #saving: Promise<void> | undefined;
  #isOpen = false;
  #notBefore = -Infinity;

  constructor(deps: DerivedDeps) {
    this.#deps = deps;
  }

  async open(): Promise<void> {
    const { ledger, clock, log } = this.#deps;
    const begun = clock.monotonic();
    const from = await this.#load();
    const { seq: to } = ledger.head();
    const tell = this.#progressOver(from, to);
    await replay(
      ledger,
      (entry) => {
        this.#fold(entry);
        tell(entry.seq);
      },
      from,
    );
    const ms = Math.round(clock.monotonic() - begun);
    if (to > 0) log.write('info', 'the ledger is read', { put_aside: from, lines: to - from, ms });
    this.#isOpen = true;
    this.wake();
  }

  /** There are new lines. */
  wake(): void {
    const { ledger, clock } = this.#deps;
    if (!this.#isOpen || ledger.head().seq - this.#saved.seq < EVERY) return;
    if (clock.monotonic() >= this.#notBefore) void this.save();
  }

  /** Puts everything aside, behind whatever is under way. A failure costs the next start some time. */
  save(): Promise<void> {
    this.#saving ??= this.#save()
      .catch((error: unknown) => {
        this.#notBefore = this.#deps.clock.monotonic() + RETRY_MS;
        this.#deps.log.write('warn', 'what is derived could not be put aside', {
          error: String(error),
        });
      })
      .finally(() => (this.#saving = undefined));
    return this.#saving;
  }

  /** What is wrong with what was put aside. */
  async check() {
    await this.#saving;
    return this.#deps.files.check();
  }

  /** Names the parts that are not what all lines lead to; to repair is to take those up instead. */
  async differing(repair: boolean): Promise<string[]> {
    const { ledger, turns, all, index } = this.#deps;
    const other = this.#deps.fresh();
    let reached = 0;
    const readOn = (): Promise<void> =>
      replay(
        ledger,
        (entry) => {
          for (const one of other.all) one.fold(entry);
          reached = entry.seq;
        },
        reached,
      );
    // Most of it while others go on.
    await readOn();
    return turns.run(async () => {
      await readOn();
      const wrong = all.filter((one, number) => !isSame(one, other.all[number]));
      const names = wrong.map(({ name }) => name);
      if (!isSameIndex(index, other.index)) names.push('index');
      if (repair && names.length > 0) this.#takeUp(other);
      return names;
    });
  }

  /** For files that are not what was written. */
  async saveAnew(): Promise<void> {
    await this.#saving;
    this.#saved = { seq: 0, mark: NO_INDEX };
    await this.save();
  }

  #takeUp(other: ReturnType<DerivedDeps['fresh']>): void {
    this.#reset();
    for (const [number, one] of this.#deps.all.entries()) {
      for (const piece of other.all[number]?.save() ?? []) one.load(piece);
    }
    const mark = other.index.mark();
    for (const piece of other.index.pieces(NO_INDEX, mark)) this.#deps.index.load(piece);
    void this.saveAnew();
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_MS)));
    await Promise.race([this.#saveLast(), tooLong]);
    clearTimeout(timer);
  }

  async #saveLast(): Promise<void> {
    await this.#saving;
    if (this.#deps.ledger.head().seq > this.#saved.seq) await this.save();
  }

  async #save(): Promise<void> {
    const { files, index } = this.#deps;
    const { header, pieces, mark } = await this.#deps.turns.run(() => this.#capture());
    const from = this.#saved.mark;
    await files.write(this.#lines(header, pieces), {
      isAnew: from.events === 0,
      pieces: index.pieces(from, mark),
    });
    this.#saved = { seq: header.seq, mark };
  }

  #capture(): Captured {
    const { ledger, all, version, index } = this.#deps;
    const header = { version, ...ledger.head(), forms: this.#forms() };
    return {
      header,
      pieces: all.map((one) => [one.name, one.save()]),
      mark: index.mark(),
    };
  }

  async *#lines(header: Header, all: Captured['pieces']): AsyncGenerator<string> {
    const pause = this.#pauses();
    yield JSON.stringify(header);
    for (const [name, pieces] of all) {
      for (const piece of pieces) {
        yield JSON.stringify([name, piece]);
        await pause();
      }
    }
  }

  /** The last line that everything was put aside with; 0: nothing can be used. */
  async #load(): Promise<number> {
    const { ledger, log, tell } = this.#deps;
    try {
      const seq = await this.#loadSaved();
      this.#saved = { seq, mark: this.#deps.index.mark() };
      return seq;
    } catch (error) {
      this.#reset();
      if (ledger.head().seq === 0) return 0;
      const why = error instanceof Error ? error.message : String(error);
      log.write('warn', 'what was put aside cannot be used; reading every line', { error: why });
      tell(`What was put aside of the ledger could not be used and was made again: ${why}.`);
      return 0;
    }
  }

  /** @throws Error with the reason why it cannot be used. */
  async #loadSaved(): Promise<number> {
    const { files, ledger, index, version, all } = this.#deps;
    this.#reset();
    const saved = await files.read();
    if (saved === undefined) return 0;
    const [first = '{}', ...lines] = saved.lines;
    const { seq, hash, ...made } = JSON.parse(first) as Header;
    // Another version may make something else of the same lines: that is nobody's fault.
    if (made.version !== version || JSON.stringify(made.forms) !== JSON.stringify(this.#forms())) {
      return 0;
    }
    if ((seq === 0 ? hash : await ledger.hashOf(seq)) !== hash) {
      throw new Error('it was made from other lines');
    }
    const pause = this.#pauses();
    for (const piece of saved.pieces) {
      index.load(piece);
      await pause();
    }
    const byName = new Map(all.map((one) => [one.name, one]));
    for (const line of lines) {
      const [name, piece] = JSON.parse(line) as [string, unknown];
      byName.get(name)?.load(piece);
      await pause();
    }
    return seq;
  }

  #forms(): Record<string, number> {
    return Object.fromEntries(this.#deps.all.map(({ name, form }) => [name, form]));
  }

  #reset(): void {
    this.#deps.index.reset();
    this.#saved = { seq: 0, mark: NO_INDEX };
    for (const one of this.#deps.all) one.reset();
  }

  #fold(entry: LedgerEntry): void {
    for (const one of this.#deps.all) one.fold(entry);
  }

  #progressOver(from: number, to: LedgerHead['seq']): (seq: number) => void {
    let told = -1;
    return (seq) => {
      if (to - from < MANY) return;
      const percent = Math.floor((100 * (seq - from)) / (to - from));
      if (percent > told) this.#deps.progress((told = percent));
    };
  }

  /** A turn of the loop for everybody else, from time to time. */
  #pauses(): () => Promise<void> | undefined {
    const { clock } = this.#deps;
    let until = clock.monotonic() + SLICE_MS;
    return () => {
      if (clock.monotonic() < until) return undefined;
      return new Promise((resolve) =>
        setImmediate(() => {
          until = clock.monotonic() + SLICE_MS;
          resolve();
        }),
      );
    };
  }
}

function isSame(one: Derived, other: Derived | undefined): boolean {
  return JSON.stringify(one.save()) === JSON.stringify(other?.save());
}

function isSameIndex(one: EventIndex, other: EventIndex): boolean {
  const [mark, others] = [one.mark(), other.mark()];
  if (JSON.stringify(mark) !== JSON.stringify(others)) return false;
  const pieces = other.pieces(NO_INDEX, others);
  for (const piece of one.pieces(NO_INDEX, mark)) {
    const match = pieces.next();
    if (match.done === true || piece.length !== match.value.length) return false;
    const bytes = match.value;
    if (!piece.every((byte, at) => byte === bytes[at])) return false;
  }
  return true;
}
