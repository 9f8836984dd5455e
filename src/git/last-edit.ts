import type { FileChange } from '../core/store.js';

type NewTree = readonly [id: string, bytes: Buffer];

interface Edited {
  readonly root: string;
  /** What it needs that is new. */
  readonly taken: readonly NewTree[];
}

/** The last edit of a tree: what was made ready is asked for again, and comes to the same. */
export interface LastEdit {
  /** Whether an edit of so many is kept at all. */
  keeps(changes: readonly FileChange[]): boolean;
  find(base: string | undefined, changes: readonly FileChange[]): Edited | undefined;
  note(base: string | undefined, changes: readonly FileChange[], edited: Edited): void;
}

/** Others are not remembered: comparing and keeping them would cost what they are. */
const MOST_CHANGES = 8;
const MOST_BYTES = 256 * 1024;

export function createLastEdit(): LastEdit {
  let last: (Edited & { readonly key: string }) | undefined;
  const keeps = (changes: readonly FileChange[]): boolean => changes.length <= MOST_CHANGES;
  return {
    keeps,
    find(base, changes) {
      if (last === undefined || !keeps(changes)) return undefined;
      return last.key === keyOf(base, changes) ? last : undefined;
    },
    note(base, changes, edited) {
      const bytes = edited.taken.reduce((sum, [, tree]) => sum + tree.length, 0);
      const isSmall = keeps(changes) && bytes <= MOST_BYTES;
      last = isSmall ? { ...edited, key: keyOf(base, changes) } : undefined;
    },
  };
}

/** No path and no mode has a NUL. */
function keyOf(base = '', changes: readonly FileChange[]): string {
  const told = changes.map((change) => {
    return 'deleted' in change ? change.path : `${change.path}\0${change.mode} ${change.hash}`;
  });
  return [base, ...told].join('\0\0');
}
