import { posix } from 'node:path';

/**
 * Lines from `first` to `last`, counted from 1. A `last` before `first` is the place where lines
 * were taken out; it counts as the line before it. What stood there is only in the content before.
 */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export type BlockKind =
  'function' | 'method' | 'class' | 'module' | 'yaml_path' | 'json_path' | 'lines';

/**
 * Code: names from the outside in, joined by dots (`Cart.add`); a module that is the file has its
 * path. Data: a JSON pointer, `/` for the whole file; an item of a list by its `id` or `name` where
 * that is unique, else by its index; the first step of a file with several documents is the
 * document's index. Lines: `3-5,9`.
 */
export interface SemanticBlock {
  readonly kind: BlockKind;
  readonly id: string;
}

/** What changed lines are inside of. */
export interface Enrichment {
  /** The smallest block that holds all of them: `semantic_block` of an event. */
  readonly block: SemanticBlock;
  /** The innermost block of each, in the order of the file, without repeats, the first 50. */
  readonly blocks: readonly SemanticBlock[];
  /** Why the answer may be less than it could be. */
  readonly warning?: string;
  /** Nobody looked into the file: another time there may be more to say. */
  readonly unsettled?: true;
}

/** Runs beside the write path: bounded in time and memory, never rejects, whatever the content. */
export interface Semantics {
  enrich(path: string, content: Uint8Array, ranges: readonly LineRange[]): Promise<Enrichment>;
  /** What answers depend on besides the content: with another one they may be others. */
  readonly edition: string;
  /** Packages of languages that cannot be looked into. */
  readonly missing: readonly string[];
  /** Whatever is still asked for is answered with lines. */
  close(): Promise<void>;
}

export type CodeLanguage = 'python' | 'javascript' | 'typescript' | 'tsx';
export type Language = CodeLanguage | 'yaml' | 'json';

const LANGUAGES: Readonly<Record<string, Language>> = {
  '.py': 'python',
  '.pyi': 'python',
  '.pyw': 'python',
  '.js': 'javascript',
  '.jsx': 'javascript',
  '.mjs': 'javascript',
  '.cjs': 'javascript',
  '.ts': 'typescript',
  '.mts': 'typescript',
  '.cts': 'typescript',
  '.tsx': 'tsx',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.jsonc': 'json',
};

export function languageOf(path: string): Language | undefined {
  const extension = posix.extname(path).toLowerCase();
  return Object.hasOwn(LANGUAGES, extension) ? LANGUAGES[extension] : undefined;
}

/** More would be a list nobody reads; the event has the lines and the diff besides. */
const MOST_NAMED_RANGES = 20;

/** The answer when nothing is known of the inside of the file. */
export function linesOnly(ranges: readonly LineRange[], warning: string): Enrichment {
  const merged = mergeRanges(ranges, Number.MAX_SAFE_INTEGER);
  const named = merged
    .slice(0, MOST_NAMED_RANGES)
    .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  if (merged.length > MOST_NAMED_RANGES) named.push('…');
  const block: SemanticBlock = { kind: 'lines', id: named.join(',') };
  return { block, blocks: [block], warning };
}

/** In order, apart from each other, inside the file. Numbers that are none are left out. */
export function mergeRanges(ranges: readonly LineRange[], lastLine: number): LineRange[] {
  const inside = (line: number): number => Math.min(Math.max(Math.trunc(line), 1), lastLine);
  const sorted = ranges
    .filter(({ first, last }) => !Number.isNaN(first) && !Number.isNaN(last))
    .map(({ first, last }) => ({ first: inside(Math.min(first, last)), last: inside(last) }))
    .sort((left, right) => left.first - right.first);
  const merged: { first: number; last: number }[] = [];
  for (const range of sorted) {
    const before = merged.at(-1);
    if (before === undefined || range.first > before.last + 1) merged.push(range);
    else before.last = Math.max(before.last, range.last);
  }
  return merged;
}
