import type { FileHandle } from 'node:fs/promises';
import type { LedgerDamage, LedgerHead } from '../core/ledger.js';
import { linesOf, type PlacedLine } from './chunks.js';
import { checkLine, hashLine, NO_HASH, type CheckedLine } from './line.js';
import { createOffsets, type Offsets } from './offsets.js';

const REPORTED = 100;

/** What a whole pass over the file found. */
export interface Scan {
  readonly head: LedgerHead;
  readonly events: number;
  readonly offsets: Offsets;
  /** Where the good part ends; what follows was never acknowledged. */
  readonly goodBytes: number;
  readonly damage: readonly LedgerDamage[];
  readonly damageCount: number;
}

/**
 * Walks the file once. Half a line, a line with NUL bytes (a block that never reached the disk)
 * and an unfinished group at the end are a torn tail. Anything else that is wrong is damage to
 * what was acknowledged: it stays where it is, is reported, and the chain goes on after it.
 */
export async function scan(file: FileHandle, size: number): Promise<Scan> {
  const state = createState();
  let number = 0;
  for await (const line of linesOf(file, { start: 0, end: size })) state.take(line, ++number);
  return state.finish(size);
}

function createState() {
  const offsets = createOffsets();
  const damage: LedgerDamage[] = [];
  let damageCount = 0;
  let seq = 0;
  let hash = NO_HASH;
  let events = 0;
  /** Start of a run of bad lines that may turn out to be the torn tail. */
  let suspects: { line: PlacedLine; number: number }[] = [];
  /** The first line of a group whose last line has not come yet, and the state before it. */
  let group: { offset: number; seq: number; hash: string; events: number } | undefined;

  function report(kind: LedgerDamage['kind'], line: number, where: [number, string]): void {
    damageCount++;
    if (damage.length < REPORTED) {
      damage.push({ kind, line, offset: where[0], detail: where[1] });
    }
  }

  /** Bad lines that stay: their numbers are lost, so each counts as one. */
  function settle(): number {
    for (const { line, number } of suspects) {
      report('bad_line', number, [line.offset, 'the line is not what was written']);
      hash = hashLine(line.bytes);
    }
    const count = suspects.length;
    suspects = [];
    return count;
  }

  function checkOrder(checked: CheckedLine, bad: number, where: [number, number]): void {
    const [number, offset] = where;
    if (checked.seq <= seq) {
      report('duplicate_seq', number, [offset, `${checked.seq} after ${seq}`]);
    } else if (checked.seq > seq + 1 + bad) {
      report('missing_seq', number, [offset, `${checked.seq} after ${seq + bad}`]);
    } else if (bad === 0 && checked.prev !== hash) {
      report('chain_break', number, [offset, 'it was not written after the line before it']);
    }
  }

  return {
    take(line: PlacedLine, number: number): void {
      const checked = line.isEnded ? checkLine(line.bytes) : undefined;
      if (checked === undefined) {
        suspects.push({ line, number });
        return;
      }
      const bad = settle();
      const place = line.offset;
      checkOrder(checked, bad, [number, place]);
      if (checked.more > 0) group ??= { offset: place, seq, hash, events };
      else group = undefined;
      seq = Math.max(seq, checked.seq);
      hash = hashLine(line.bytes);
      events++;
      offsets.add(checked.seq, place);
    },

    finish(size: number): Scan {
      const torn = suspects.findIndex(({ line }) => !line.isEnded || line.bytes.includes(0));
      let goodBytes = size;
      if (torn !== -1) {
        goodBytes = suspects[torn]?.line.offset ?? size;
        suspects = suspects.slice(0, torn);
      }
      if (suspects.length > 0) seq += settle();
      else if (group !== undefined) {
        goodBytes = group.offset;
        ({ seq, hash, events } = group);
        offsets.cut(seq);
      }
      return { head: { seq, hash }, events, offsets, goodBytes, damage, damageCount };
    },
  };
}
