import type { FileHandle } from 'node:fs/promises';
import type { LedgerDamage, LedgerHead } from '../core/ledger.js';
import { linesOf, type PlacedLine } from './chunks.js';
import { checkLine, hashLine, NO_HASH, type CheckedLine } from './line.js';
import { Offsets } from './offsets.js';

const REPORTED = 100;

/** One file of the ledger. */
export interface ScannedFile {
  readonly name: string;
  readonly file: FileHandle;
  readonly size: number;
  /** Bytes in the files before it. */
  readonly base: number;
  /** No more is written to it: nothing in it is a torn tail. */
  readonly isSealed: boolean;
}

/** What is known of the lines before those that are looked at. */
export interface Before {
  readonly head: LedgerHead;
  readonly events: number;
  readonly offsets: Offsets;
}

/** What a pass over files found. */
export interface Scan extends Before {
  /** Where the good part of the last file ends; what follows was never acknowledged. */
  readonly goodBytes: number;
  readonly damage: readonly LedgerDamage[];
  readonly damageCount: number;
}

export const NOTHING_BEFORE = (): Before => {
  return { head: { seq: 0, hash: NO_HASH }, events: 0, offsets: new Offsets() };
};

/**
 * Walks the files once, in order. At the end of the last one half a line, a line with NUL bytes (a
 * block that never reached the disk) and an unfinished group are a torn tail. Anything else that is
 * wrong is damage to what was acknowledged: it stays where it is, is reported, and the chain goes on
 * after it.
 */
export class Scanner {
  readonly #offsets: Offsets;
  readonly #damage: LedgerDamage[] = [];
  #damageCount = 0;
  #seq: number;
  #hash: string;
  #events: number;
  #at: ScannedFile | undefined;
  /** A run of bad lines that may turn out to be the torn tail. */
  #suspects: { line: PlacedLine; number: number }[] = [];
  /** Bad lines before that were no tail: their numbers are lost, so each counts as one. */
  #lost = 0;
  /** The first line of a group whose last line has not come yet, and the state before it. */
  #group: { offset: number; seq: number; hash: string; events: number } | undefined;

  constructor({ head, events, offsets }: Before = NOTHING_BEFORE()) {
    ({ seq: this.#seq, hash: this.#hash } = head);
    this.#events = events;
    this.#offsets = offsets;
  }

  get damageCount(): number {
    return this.#damageCount;
  }

  /** Where the lines up to the end of a sealed file lead to. */
  get position(): LedgerHead & { readonly events: number } {
    return { seq: this.#seq, hash: this.#hash, events: this.#events };
  }

  async take(scanned: ScannedFile): Promise<void> {
    this.#at = scanned;
    let number = 0;
    const { file, size, isSealed } = scanned;
    for await (const line of linesOf(file, { start: 0, end: size })) this.#line(line, ++number);
    if (!isSealed) return;
    this.#settle();
    this.#group = undefined;
  }

  finish(): Scan {
    let goodBytes = this.#at?.size ?? 0;
    const torn = this.#suspects.findIndex(({ line }) => !line.isEnded || line.bytes.includes(0));
    if (torn !== -1) {
      goodBytes = this.#suspects[torn]?.line.offset ?? goodBytes;
      this.#suspects = this.#suspects.slice(0, torn);
    }
    if (this.#suspects.length > 0 || this.#lost > 0) {
      this.#settle();
      this.#seq += this.#lost;
    } else if (this.#group !== undefined) {
      goodBytes = this.#group.offset;
      ({ seq: this.#seq, hash: this.#hash, events: this.#events } = this.#group);
      this.#offsets.cut(this.#seq);
    }
    return {
      head: { seq: this.#seq, hash: this.#hash },
      ...{ events: this.#events, offsets: this.#offsets, goodBytes },
      ...{ damage: this.#damage, damageCount: this.#damageCount },
    };
  }

  #line(line: PlacedLine, number: number): void {
    const checked = line.isEnded ? checkLine(line.bytes) : undefined;
    if (checked === undefined) {
      this.#suspects.push({ line, number });
      return;
    }
    this.#settle();
    this.#checkOrder(checked, number, line.offset);
    this.#lost = 0;
    if (checked.more > 0) {
      const [seq, hash, events] = [this.#seq, this.#hash, this.#events];
      this.#group ??= { offset: line.offset, seq, hash, events };
    } else this.#group = undefined;
    this.#seq = Math.max(this.#seq, checked.seq);
    this.#hash = hashLine(line.bytes);
    this.#events++;
    this.#offsets.add(checked.seq, (this.#at?.base ?? 0) + line.offset);
  }

  /** Bad lines that stay. */
  #settle(): void {
    for (const { line, number } of this.#suspects) {
      this.#report('bad_line', [number, line.offset], 'the line is not what was written');
      this.#hash = hashLine(line.bytes);
    }
    this.#lost += this.#suspects.length;
    this.#suspects = [];
  }

  #checkOrder({ seq, prev }: CheckedLine, number: number, offset: number): void {
    const where = [number, offset] as const;
    const lost = this.#lost;
    if (seq <= this.#seq) this.#report('duplicate_seq', where, `${seq} after ${this.#seq}`);
    else if (seq > this.#seq + 1 + lost) {
      this.#report('missing_seq', where, `${seq} after ${this.#seq + lost}`);
    } else if (lost === 0 && prev !== this.#hash) {
      this.#report('chain_break', where, 'it was not written after the line before it');
    }
  }

  #report(
    kind: LedgerDamage['kind'],
    [line, offset]: readonly [number, number],
    detail: string,
  ): void {
    this.#damageCount++;
    if (this.#damage.length >= REPORTED) return;
    this.#damage.push({ kind, file: this.#at?.name ?? '', line, offset, detail });
  }
}
