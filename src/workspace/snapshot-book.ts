import type { Derived } from '../core/derived.js';
import { SmithyError } from '../core/errors.js';
import type { LedgerEntry } from '../core/ledger.js';
import { nearest } from '../core/nearest.js';
import { readSnapshotId, snapshotId, type Snapshot, type SnapshotNote } from '../core/snapshots.js';

/** All snapshots as the ledger tells them. The commit of each is on the branch of its id in `KEPT`. */
export class SnapshotBook implements Derived {
  readonly name = 'snapshots';
  readonly form = 1;
  readonly #known = new Map<string, Snapshot>();
  #last = 0;

  reset(): void {
    this.#known.clear();
    this.#last = 0;
  }

  save(): unknown[] {
    return [this.#last, ...this.list()];
  }

  load(piece: unknown): void {
    if (typeof piece === 'number') this.#last = piece;
    else this.#known.set((piece as Snapshot).id, piece as Snapshot);
  }

  fold({ snapshot_ref: id, ts, ...rest }: LedgerEntry): void {
    if (id === null) return;
    const note = rest['snapshot'] as SnapshotNote | undefined;
    if (note !== undefined) {
      this.#known.set(id, { ...note, id, ts, tar: null });
      this.#last = Math.max(this.#last, readSnapshotId(id) ?? 0);
    }
    const known = this.#known.get(id);
    const tar = rest['exported'];
    if (typeof tar === 'string' && known !== undefined) this.#known.set(id, { ...known, tar });
  }

  /** Never used before, also not by one that is gone. */
  nextId(): string {
    return snapshotId(this.#last + 1);
  }

  get(given: string): Snapshot | undefined {
    const number = readSnapshotId(given);
    return number === undefined ? undefined : this.#known.get(snapshotId(number));
  }

  /** @throws SmithyError SNAPSHOT_NOT_FOUND */
  require(given: string): Snapshot {
    const known = this.get(given) ?? this.list().findLast(({ name }) => name === given);
    if (known !== undefined) return known;
    const near = nearest(given, this.#known.keys());
    throw new SmithyError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${given.slice(0, 100)}.`, {
      hint: 'See `smithyd snapshot list`.',
      data: { id: given, near },
    });
  }

  /** Oldest first. What throws old ones away begins here: their branches are named as they are. */
  list(): Snapshot[] {
    return [...this.#known.values()];
  }

  skippedAt(commit: string): readonly string[] {
    return this.list().find((one) => one.commit === commit)?.skipped ?? [];
  }
}
