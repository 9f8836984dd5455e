import { diff3Merge } from 'node-diff3';
import type { MergeResult } from '../core/text-diff.js';
import { align } from './align.js';
import { decodeUtf8, isBinary, sameBytes, splitLines } from './content.js';
import type { Limits } from './limits.js';

/**
 * Steps that node-diff3 may take for one place. Its search is about the product of equal line pairs
 * and lines, so a few hundred braces against a few hundred others would hold the daemon for seconds.
 */
const MAX_STEPS = 20_000_000;

interface Place {
  readonly base: string[];
  readonly ours: string[];
  readonly theirs: string[];
}

interface Merged {
  readonly lines: readonly string[];
  readonly conflicts: number;
}

export interface MergeInput {
  readonly base: Uint8Array;
  readonly ours: Uint8Array;
  readonly theirs: Uint8Array;
}

export function merge({ base, ours, theirs }: MergeInput, limits: Limits): MergeResult {
  const clean = (content: Uint8Array): MergeResult => ({ clean: true, content, conflicts: 0 });
  if (sameBytes(ours, theirs) || sameBytes(base, theirs)) return clean(ours);
  if (sameBytes(base, ours)) return clean(theirs);
  const [o, a, b] = [base, ours, theirs].map((content) => readLines(content, limits));
  const places = o && a && b ? placesOf(o, a, b) : undefined;
  if (places === undefined) return { clean: false, content: ours, conflicts: 1 };
  let conflicts = 0;
  const text: string[] = [];
  for (const place of places) {
    const merged = mergePlace(place);
    conflicts += merged.conflicts;
    text.push(merged.lines.join(''));
  }
  const content = new TextEncoder().encode(text.join(''));
  return { clean: conflicts === 0, content, conflicts };
}

function readLines(content: Uint8Array, limits: Limits): string[] | undefined {
  if (content.length > limits.maxBytes || isBinary(content)) return undefined;
  const text = decodeUtf8(content);
  if (text === undefined) return undefined;
  const lines = splitLines(text);
  return lines.length > limits.maxLines ? undefined : lines;
}

/**
 * Cut at every line that all three have in common, each such line a place of its own. node-diff3
 * then only sees the lines around a change: on whole files its search is quadratic.
 */
function placesOf(base: string[], ours: string[], theirs: string[]): Place[] | undefined {
  const left = align(base, ours);
  const right = align(base, theirs);
  if (!left.exact || !right.exact) return undefined;
  const places: Place[] = [];
  const from = { base: 0, ours: 0, theirs: 0 };
  const cut = (to: typeof from): void => {
    places.push({
      base: base.slice(from.base, to.base),
      ours: ours.slice(from.ours, to.ours),
      theirs: theirs.slice(from.theirs, to.theirs),
    });
    Object.assign(from, to);
  };
  for (const [line, text] of base.entries()) {
    const [inOurs = -1, inTheirs = -1] = [left.partner[line], right.partner[line]];
    if (inOurs === -1 || inTheirs === -1) continue;
    cut({ base: line, ours: inOurs, theirs: inTheirs });
    const common = [text];
    places.push({ base: common, ours: common, theirs: common });
    Object.assign(from, { base: line + 1, ours: inOurs + 1, theirs: inTheirs + 1 });
  }
  cut({ base: base.length, ours: ours.length, theirs: theirs.length });
  return places;
}

function mergePlace({ base, ours, theirs }: Place): Merged {
  if (base.length + theirs.length === 0) return { lines: ours, conflicts: 0 };
  if (base.length + ours.length === 0) return { lines: theirs, conflicts: 0 };
  if (ours === theirs) return { lines: ours, conflicts: 0 };
  if (steps(base, ours) + steps(base, theirs) > MAX_STEPS) return { lines: ours, conflicts: 1 };
  const lines: string[] = [];
  let conflicts = 0;
  for (const { ok, conflict } of diff3Merge(ours, base, theirs)) {
    for (const line of ok ?? conflict?.a ?? []) lines.push(line);
    if (conflict !== undefined) conflicts += 1;
  }
  return { lines, conflicts };
}

function steps(base: readonly string[], side: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const line of side) counts.set(line, (counts.get(line) ?? 0) + 1);
  const pairs = base.reduce((sum, line) => sum + (counts.get(line) ?? 0), 0);
  return pairs * Math.min(base.length, side.length);
}
