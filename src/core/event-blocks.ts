import type { LedgerEntry } from './ledger.js';
import type { CheckedFiles } from './ports.js';
import { linesOnly, type Enrichment, type SemanticBlock } from './semantics.js';
import { rangesOf } from './changed-lines.js';

/** What a change of one file is inside of. */
export interface FileBlock {
  readonly path: string;
  /** Null where there is no text to be inside of. */
  readonly block: SemanticBlock | null;
  /** The innermost ones, when they are several. */
  readonly blocks?: readonly SemanticBlock[];
  /** Why it is less than it could be. */
  readonly warning?: string;
}

/** What is derived of one line of the ledger. */
export interface EventBlocks {
  readonly seq: number;
  /** Of the line it was derived from: another one with its number has another time. */
  readonly ts: string;
  /** In the order of the line, the first few. */
  readonly files: readonly FileBlock[];
  /** Files of the line that were not looked into. */
  readonly left?: number;
}

/**
 * Derived blocks, beside the ledger. May be lost at any time: they are derived again, and the same.
 * Calls may overlap.
 */
export interface BlockFiles extends CheckedFiles {
  /** Those that are kept, of the ones that are asked for. */
  read(seqs: readonly number[]): Promise<EventBlocks[]>;
  /** `reached`: everything up to here has been looked into. */
  add(derived: readonly EventBlocks[], reached?: number): Promise<void>;
  /** Where a follower goes on; 0 when nobody knows. */
  reached(): Promise<number>;
}

const MOST_NAMED = 10;

export function toFileBlock(path: string, { block, blocks, warning }: Enrichment): FileBlock {
  return {
    path,
    block,
    ...(blocks.length > 1 ? { blocks: blocks.slice(0, MOST_NAMED) } : {}),
    ...(warning === undefined ? {} : { warning }),
  };
}

/** As much as the line itself knows, when nobody could look into the file. */
export function plainBlock(entry: LedgerEntry, path: string, warning: string): FileBlock {
  const ranges = rangesOf(entry.affected_lines);
  if (ranges.length > 0 && entry.changes.at(-1)?.path === path) {
    return toFileBlock(path, linesOnly(ranges, warning));
  }
  const { additions = 0, deletions = 0 } = (entry['told'] as Told | undefined) ?? {};
  const last = Math.max(additions, deletions);
  if (last === 0) return { path, block: null, warning };
  return toFileBlock(path, linesOnly([{ first: 1, last }], warning));
}

interface Told {
  readonly additions?: number;
  readonly deletions?: number;
}

/** The members of an event that tell what its changes are inside of. */
export function blockMembers({ files, left = 0 }: EventBlocks) {
  const [first] = files;
  if (first === undefined) return { semantic_block: null };
  const more = left === 0 ? undefined : `${left} more files were not examined.`;
  const warnings = [first.warning, more].filter((one) => one !== undefined);
  return {
    semantic_block: named(first.block),
    ...(warnings.length === 0 ? {} : { semantic_warning: warnings.join(' ') }),
    semantic_files: files.map(({ path, block, blocks, warning }) => ({
      path,
      block: named(block),
      ...(blocks === undefined ? {} : { blocks: blocks.map(({ kind, id }) => ({ kind, id })) }),
      ...(warning === undefined ? {} : { warning }),
    })),
  };
}

function named(block: SemanticBlock | null) {
  return block === null ? null : { kind: block.kind, id: block.id };
}
