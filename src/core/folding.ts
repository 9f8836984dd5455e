/** Lines of the ledger after the one position and before the other. */
export interface Stretch {
  readonly after: number;
  readonly before: number;
}

/** Old lines whose contents go: those between the checkpoints of two snapshots. */
export interface Run extends Stretch {
  /** The snapshots. */
  readonly from: string;
  readonly to: string;
  /** How many of its lines changed files. */
  readonly events: number;
}

/** What a line says of a run. One with more changes than fit goes on in lines with a `part` from 2 on. */
export interface FoldNote extends Run {
  readonly part?: number;
}

interface End {
  readonly id: string;
  readonly ts: string;
  /** The newest line when it was made. */
  readonly base: number;
}

export interface Past {
  /** Those that stay, oldest first. */
  readonly snapshots: readonly End[];
  /** The newest checkpoint up to a line. `isWhole`: it could take in every path. */
  readonly checkpointAt: (
    seq: number,
  ) => { readonly seq: number; readonly isWhole: boolean } | undefined;
  /** Wall time in ms: what ended later stays. */
  readonly olderThan: number;
  /** From this line on somebody may still want to go back to what was before it. */
  readonly heldFrom: number;
  /** Of milestones: what they tell is made from these lines. */
  readonly told: readonly Stretch[];
  readonly folded: readonly Stretch[];
  /** How many lines of a stretch changed files. */
  readonly changesIn: (stretch: Stretch) => number;
}

/**
 * Which runs can be folded, oldest first. Each ends at a checkpoint, so whatever comes after it is
 * rebuilt from there and never from a line inside. A checkpoint that left paths out cannot be an
 * end: what these held is only told by lines before it.
 */
export function foldable(past: Past): Run[] {
  const ends = endsOf(past);
  return ends.flatMap((end, at) => {
    const begin = ends[at - 1];
    if (begin === undefined) return [];
    const run = { after: startOf(past, begin, end), before: end.seq, from: begin.id, to: end.id };
    const isOld = Date.parse(end.ts) <= past.olderThan && run.after + 1 < run.before;
    if (!isOld || run.before > past.heldFrom || !isStart(past, run.after)) return [];
    if (past.told.some((stretch) => overlaps(stretch, run))) return [];
    const events = past.changesIn(run);
    return events === 0 ? [] : [{ ...run, events }];
  });
}

export function overlaps(one: Stretch, other: Stretch): boolean {
  return Math.max(one.after, other.after) + 1 < Math.min(one.before, other.before);
}

/** The last snapshot of each checkpoint that can be an end. */
function endsOf({ snapshots, checkpointAt }: Past): (End & { readonly seq: number })[] {
  const bySeq = new Map<number, End & { readonly seq: number }>();
  for (const snapshot of snapshots) {
    const checkpoint = checkpointAt(snapshot.base);
    if (checkpoint?.isWhole === true) {
      bySeq.set(checkpoint.seq, { ...snapshot, seq: checkpoint.seq });
    }
  }
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** What an earlier fold left of it: snapshots between may have been thinned out since. */
function startOf(
  { folded }: Past,
  begin: { readonly seq: number },
  end: { readonly seq: number },
): number {
  const run = { after: begin.seq, before: end.seq };
  const within = folded.filter((stretch) => overlaps(stretch, run));
  return Math.max(begin.seq, ...within.map(({ before }) => before));
}

/** Its checkpoint may have gone with its dialog. */
function isStart({ checkpointAt }: Past, seq: number): boolean {
  const checkpoint = checkpointAt(seq);
  return checkpoint?.seq === seq && checkpoint.isWhole;
}
