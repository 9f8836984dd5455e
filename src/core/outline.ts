import { mergeRanges, type Enrichment, type LineRange, type SemanticBlock } from './semantics.js';

/** `object` is a literal that lends its name to its methods but is no block itself. */
export type PartKind = 'function' | 'class' | 'module' | 'object' | 'entry';

/** A named part of a file. Lines count from 1. */
export interface Part {
  readonly kind: PartKind;
  readonly name: string;
  /** Index of the part around it, which stands before it in the list; -1 for the file. */
  readonly parent: number;
  readonly first: number;
  /** The line up to which it begins: nothing inside of it owns lines before. */
  readonly head: number;
  readonly last: number;
}

export interface Outline {
  readonly what: 'code' | 'yaml_path' | 'json_path';
  /** In the order of the file, the outer before the inner. */
  readonly parts: readonly Part[];
  /** Lines that only comment or decorate: they belong to the part that starts below them. */
  readonly leads: ReadonlySet<number>;
}

const FILE = -1;
const MOST_BLOCKS = 50;
/** Keys can be as long as the file; an event line must stay small. */
const LONGEST_ID = 500;

/** What the lines of `ranges` are inside of. */
export function blocksOf(
  outline: Outline,
  file: { readonly path: string; readonly text: string },
  ranges: readonly LineRange[],
): Enrichment {
  const lines = file.text.split('\n');
  const owners = ownersOf(outline, lines.length);
  const named = new Map<string, SemanticBlock>();
  let common: number | undefined;
  for (const line of changedLines(lines, ranges)) {
    const owner = owners[line] ?? FILE;
    common = common === undefined ? owner : ancestorOfBoth(outline.parts, common, owner);
    if (named.size >= MOST_BLOCKS) continue;
    const block = toBlock(outline, file.path, owner);
    named.set(`${block.kind}:${block.id}`, block);
  }
  const block = toBlock(outline, file.path, common ?? FILE);
  return { block, blocks: named.size === 0 ? [block] : [...named.values()] };
}

/** Blank lines between two changed things belong to neither; only blank ones are taken as they are. */
function* changedLines(lines: readonly string[], ranges: readonly LineRange[]): Generator<number> {
  const merged = mergeRanges(ranges, lines.length);
  let any = false;
  for (const { first, last } of merged) {
    for (let line = first; line <= last; line += 1) {
      if (lines[line - 1]?.trim() === '') continue;
      any = true;
      yield line;
    }
  }
  if (!any) yield* merged.map(({ first }) => first);
}

/**
 * For each line the innermost part it belongs to. The line on which a part begins is its own, not
 * that of what begins inside of it on the same line; a line that several parts share is their
 * parent's.
 */
function ownersOf({ parts, leads }: Outline, lineCount: number): Int32Array {
  const owners = new Int32Array(lineCount + 1).fill(FILE);
  const shared = new Uint8Array(lineCount + 1);
  parts.forEach(({ parent, first, last }, index) => {
    const headOfParent = parts[parent]?.head ?? 0;
    for (let line = first; line <= Math.min(last, lineCount); line += 1) {
      if (shared[line] === 0 && owners[line] === parent) {
        if (line > headOfParent) owners[line] = index;
        continue;
      }
      shared[line] = 1;
      owners[line] = ancestorOfBoth(parts, owners[line] ?? FILE, parent);
    }
    for (let line = first - 1; leads.has(line) && line > headOfParent; line -= 1) {
      if (owners[line] !== parent) break;
      owners[line] = index;
    }
  });
  return owners;
}

function ancestorOfBoth(parts: readonly Part[], left: number, right: number): number {
  // A parent stands before its children, so the later of two is never an ancestor of the other.
  while (left !== right) {
    if (left > right) left = parts[left]?.parent ?? FILE;
    else right = parts[right]?.parent ?? FILE;
  }
  return left;
}

function toBlock({ what, parts }: Outline, path: string, owner: number): SemanticBlock {
  let at = owner;
  while (parts[at]?.kind === 'object') at = parts[at]?.parent ?? FILE;
  const part = parts[at];
  const names: string[] = [];
  for (let up = at; up !== FILE; up = parts[up]?.parent ?? FILE)
    names.unshift(parts[up]?.name ?? '');
  if (what !== 'code') {
    return { kind: what, id: short(`/${names.map(escapeStep).join('/')}`) };
  }
  if (part === undefined) return { kind: 'module', id: path };
  return { kind: codeKind(part, parts[part.parent]), id: short(names.join('.')) };
}

function codeKind(
  { kind }: Part,
  around: Part | undefined,
): 'function' | 'method' | 'class' | 'module' {
  if (kind === 'class' || kind === 'module') return kind;
  return around?.kind === 'class' || around?.kind === 'object' ? 'method' : 'function';
}

/** RFC 6901. */
function escapeStep(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Names come from files: one line, nothing a terminal would obey. */
function short(id: string): string {
  const printable = id.slice(0, LONGEST_ID).replaceAll(/\p{Cc}+/gu, ' ');
  return id.length <= LONGEST_ID ? printable : `${printable}…`;
}
