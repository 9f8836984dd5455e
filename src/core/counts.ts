/** How many files a checkpoint added, changed and removed. */
export interface Counts {
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}

export function countChanges(
  changes: Iterable<{ readonly before: unknown; readonly after: unknown }>,
): Counts {
  const counts = { added: 0, modified: 0, deleted: 0 };
  for (const { before, after } of changes) {
    if (after === null) counts.deleted++;
    else if (before === null) counts.added++;
    else counts.modified++;
  }
  return counts;
}

/** Stands in the commit, so that listing checkpoints compares no trees. */
export function writeCounts({ added, modified, deleted }: Counts): string {
  return `${added} added, ${modified} modified, ${deleted} deleted`;
}

export function readCounts(text: string | undefined): Counts {
  const [added = 0, modified = 0, deleted = 0] = (text?.match(/\d+/gu) ?? []).map(Number);
  return { added, modified, deleted };
}
