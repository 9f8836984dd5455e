import type { Path } from './model.js';
import type { ChangeBatch, ChangeOrigin, FileChange, FileState } from './watching.js';

/** One step of one path, as the known state took it in. */
export interface Step {
  readonly path: Path;
  readonly before: FileState | undefined;
  readonly after: FileState | undefined;
  readonly origin: ChangeOrigin;
  readonly echo: boolean;
}

interface Net {
  before: FileState | undefined;
  after: FileState | undefined;
  origin: ChangeOrigin;
  echo: boolean;
}

/**
 * Steps between two batches, folded per path: a temp file that came and went leaves nothing, a
 * file replaced by rename is one modification, a file written in chunks is one change.
 */
export class PendingChanges {
  readonly #net = new Map<Path, Net>();
  readonly #untracked = new Map<Path, FileState>();

  get size(): number {
    return this.#net.size + this.#untracked.size;
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  add(step: Step): void {
    const left = this.#untracked.get(step.path);
    this.#untracked.delete(step.path);
    const earlier = this.#net.get(step.path);
    if (earlier === undefined) {
      // Tracked again before anybody heard that it was not: compare with what they know.
      this.#net.set(step.path, { ...step, before: step.before ?? left });
      return;
    }
    earlier.after = step.after;
    earlier.origin = step.origin;
    earlier.echo = step.echo;
  }

  /** The path left the known state by a rule; `last` is what was known of it. */
  addUntracked(path: Path, last: FileState): void {
    const earlier = this.#net.get(path);
    this.#net.delete(path);
    const published = earlier === undefined ? last : earlier.before;
    if (published !== undefined) this.#untracked.set(path, published);
  }

  /** The oldest differences, at most `limit`, in path order; the others stay for the next time. */
  take(limit = Infinity): ChangeBatch {
    const changes: FileChange[] = [];
    let left = limit;
    for (const [path, net] of this.#net) {
      if ((left -= 1) < 0) break;
      this.#net.delete(path);
      const change = kindOf(net);
      if (change === undefined) continue;
      const { before, after, origin, echo } = net;
      changes.push({
        path,
        change,
        ...(before === undefined ? {} : { before }),
        ...(after === undefined ? {} : { after }),
        origin,
        echo,
      });
    }
    const untracked: Path[] = [];
    for (const path of this.#untracked.keys()) {
      if ((left -= 1) < 0) break;
      this.#untracked.delete(path);
      untracked.push(path);
    }
    changes.sort((a, b) => byText(a.path, b.path));
    return { changes, untracked: untracked.sort(byText), more: !this.isEmpty };
  }
}

function kindOf({ before, after }: Net): FileChange['change'] | undefined {
  if (before === undefined) return after === undefined ? undefined : 'created';
  if (after === undefined) return 'deleted';
  return before.hash === after.hash && before.mode === after.mode ? undefined : 'modified';
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
