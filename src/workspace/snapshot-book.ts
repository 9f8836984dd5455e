import type { Derived } from '../core/derived.js';
import { SmithyError } from '../core/errors.js';
import type { LedgerEntry } from '../core/ledger.js';
import { nearest } from '../core/nearest.js';
import { readSnapshotId, snapshotId, type Snapshot, type SnapshotNote } from '../core/snapshots.js';

/** What a line says of space that was given back. */
export interface PruneNote {
  readonly freed_bytes: number;
  readonly store_bytes: number;
}

/** What went, and what the store weighed when its space was last given back. */
interface Past {
  readonly thinned: number;
  readonly bytesThen?: number;
}

/** Ids in one piece of what is put aside. */
const PIECE = 500;

/** All snapshots as the ledger tells them. The commit of each is on the branch of its id in `KEPT`. */
export class SnapshotBook implements Derived {
  readonly name = 'snapshots';
  readonly form = 2;
  readonly #known = new Map<string, Snapshot>();
  /** Those that were thinned out: some bytes each, and their branches may be there after a crash. */
  readonly #gone = new Set<string>();
  #past: Past = { thinned: 0 };
  #last = 0;

  reset(): void {
    this.#known.clear();
    this.#gone.clear();
    this.#past = { thinned: 0 };
    this.#last = 0;
  }

  save(): unknown[] {
    const gone = [...this.#gone];
    const pieces: unknown[] = [];
    for (let at = 0; at < gone.length; at += PIECE) pieces.push(gone.slice(at, at + PIECE));
    return [this.#last, this.#past, ...pieces, ...this.list()];
  }

  load(piece: unknown): void {
    if (typeof piece === 'number') this.#last = piece;
    else if (Array.isArray(piece)) for (const id of piece as string[]) this.#gone.add(id);
    else if ('thinned' in (piece as object)) this.#past = piece as Past;
    else this.#known.set((piece as Snapshot).id, piece as Snapshot);
  }

  fold(entry: LedgerEntry): void {
    const thinned = entry['thinned'] as readonly string[] | undefined;
    const pruned = entry['pruned'] as PruneNote | undefined;
    if (thinned !== undefined) this.#thin(thinned);
    if (pruned !== undefined) this.#past = { thinned: 0, bytesThen: pruned.store_bytes };
    if (entry.snapshot_ref !== null) this.#note(entry, entry.snapshot_ref);
  }

  #thin(ids: readonly string[]): void {
    for (const id of ids) {
      this.#known.delete(id);
      this.#gone.add(id);
    }
    this.#past = { ...this.#past, thinned: this.#past.thinned + ids.length };
  }

  #note({ ts, ...rest }: LedgerEntry, id: string): void {
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

  /** The newest one that got this name. */
  named(given: string): Snapshot | undefined {
    return this.list().findLast(({ name }) => name === given);
  }

  /** @throws SmithyError SNAPSHOT_NOT_FOUND */
  require(given: string): Snapshot {
    const known = this.get(given) ?? this.named(given);
    if (known !== undefined) return known;
    const number = readSnapshotId(given);
    if (number !== undefined && this.#gone.has(snapshotId(number))) throw thinnedOut(given);
    const near = nearest(given, this.#known.keys());
    throw new SmithyError('SNAPSHOT_NOT_FOUND', `There is no snapshot ${given.slice(0, 100)}.`, {
      hint: 'See `smithyd snapshot list`.',
      data: { id: given, near },
    });
  }

  /** The ids of those that were thinned out, oldest first. */
  gone(): ReadonlySet<string> {
    return this.#gone;
  }

  /** What went since space was last given back, and what the store weighed then. */
  get past(): Past {
    return this.#past;
  }

  /** Oldest first. */
  list(): Snapshot[] {
    return [...this.#known.values()];
  }
}

function thinnedOut(given: string): SmithyError {
  return new SmithyError('SNAPSHOT_NOT_FOUND', `The snapshot ${given} was thinned out.`, {
    hint: 'The last ones and every so-manieth older one stay; a bookmark keeps any of them.',
    data: { id: given, near: [] },
  });
}
