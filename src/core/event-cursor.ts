import type { Cursor } from './model.js';

/**
 * A place in the stream of events. An event that stands for a ledger line is at that line's
 * sequence number, which every later daemon understands. What has no line is between two of them:
 * it has the number of the line before it, and a number of its own that only this run knows.
 */
export interface Position {
  readonly seq: number;
  readonly within?: { readonly run: string; readonly number: number };
}

/** What a stream has at hand, to judge a position by. */
export interface StreamState {
  readonly run: string;
  /** The newest line that was told. */
  readonly head: number;
  /** Every later line is still in memory; earlier ones are read from the ledger. */
  readonly floor: number;
  /** The newest event without a line that is no longer in memory. */
  readonly forgotten?: Required<Position> | undefined;
}

export interface Resume {
  readonly from: Position;
  /** Something after the given position cannot be told any more. */
  readonly gap: boolean;
}

/** Lines one subscriber may have read back; who was away for longer looks again instead. */
export const MOST_REPLAYED = 10_000;

const CURSOR = /^(\d{1,15})(?:-([0-9a-f]{1,32})-(\d{1,15}))?$/u;

export function formatCursor({ seq, within }: Position): Cursor {
  const text = within === undefined ? `${seq}` : `${seq}-${within.run}-${within.number}`;
  return text as Cursor;
}

export function parseCursor(cursor: string): Position | undefined {
  const [, seq, run, number] = CURSOR.exec(cursor) ?? [];
  if (seq === undefined) return undefined;
  if (run === undefined || number === undefined) return { seq: Number(seq) };
  return { seq: Number(seq), within: { run, number: Number(number) } };
}

/** Where to go on for somebody who was last at `since`. */
export function planResume(since: string, state: StreamState): Resume {
  const { head, floor, forgotten } = state;
  const given = parseCursor(since);
  // Not ours, or of a ledger that was longer once: all that is at hand, and a word about it.
  if (given === undefined || given.seq > head) return { from: { seq: floor }, gap: true };
  // A run that is over took its numbers with it; the line before still says where that was.
  const from = given.within?.run === state.run ? given : { seq: given.seq };
  const isForgotten = forgotten !== undefined && isAfter(forgotten, from);
  const oldest = floor - MOST_REPLAYED;
  if (from.seq >= oldest) return { from, gap: isForgotten };
  return { from: { ...from, seq: oldest }, gap: true };
}

/** Whether an event comes after a position; both are of this run, or the position has a line only. */
export function isAfter(event: Position, position: Position): boolean {
  if (event.within === undefined) return event.seq > position.seq;
  if (position.within === undefined) return event.seq >= position.seq;
  return event.within.number > position.within.number;
}
