import type { Hash } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import type { Content, ContentSource, NewBlob } from '../core/store.js';
import type { Acknowledged, Holds } from './acknowledged.js';
import { requireContent } from './blobs.js';
import { toEntry, type PackEntry } from './pack-file.js';

export interface BlobWriterDeps {
  readonly writing: Queue;
  readonly acknowledged: Acknowledged;
  readonly holds: Holds;
  /** The pack that has this blob. */
  readonly find: (hash: Hash) => string | undefined;
  /** Flushes this pack unless we have done so before; false when it has gone. */
  readonly assure: (pack: string) => Promise<boolean>;
  /** Throws after a flush that failed. */
  readonly requireSound: () => void;
  readonly requireSpace: (incoming: number) => void;
  /** Writes a pack, flushed. */
  readonly add: (entries: readonly PackEntry[]) => Promise<void>;
  /** Content of any size, one after the other, flushed. */
  readonly stream: (blobs: readonly NewBlob[]) => Promise<void>;
  /** After a group was answered, still in its turn. */
  readonly afterwards: () => Promise<void>;
}

/** Gone: something that the store had is not there any more. */
type Outcome = 'done' | 'gone' | 'large';

interface Preparation {
  readonly missing: readonly NewBlob[];
  /** Gets what turned out to be no bytes but a source. */
  readonly opened: Map<NewBlob, ContentSource>;
  /** What this call holds of the bytes that all may hold. */
  readonly share: { bytes: number };
}

/** A caller in the queue for the next pack. */
interface Call {
  readonly entries: readonly PackEntry[];
  /** What the store was seen to have. */
  readonly stored: readonly Hash[];
  readonly bytes: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Larger contents are not held in memory but streamed, and so is what exceeds all callers' share. */
const CALL_BYTES = 1024 * 1024;
const ALL_BYTES = 16 * CALL_BYTES;
const TRIES = 3;

/**
 * Group commit: everybody who comes while a pack is being written shares the next one and its
 * flush. Reading, checking and deflating is done before, by each caller for itself, so that a
 * slow or bad one hurts nobody else.
 */
export function createBlobWriter(deps: BlobWriterDeps) {
  const { writing, acknowledged, holds, find } = deps;
  let waiting: Call[] = [];
  let heldBytes = 0;

  async function writeBlobs(blobs: Iterable<NewBlob>): Promise<void> {
    const given = [...blobs];
    // Before anything is looked up: a prune from here on leaves them alone.
    const release = holds.hold(given.map(({ hash }) => hash));
    const opened = new Map<NewBlob, ContentSource>();
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const unknown = given.filter(({ hash }) => !acknowledged.has(hash));
        if (unknown.length === 0) return;
        const outcome = await writeSmall(unknown, opened);
        if (outcome === 'done') return;
        if (outcome === 'large') break;
      }
      await writing.run(() => deps.stream(given.map((blob) => reusing(blob, opened))));
    } finally {
      release();
    }
  }

  async function writeSmall(
    blobs: readonly NewBlob[],
    opened: Map<NewBlob, ContentSource>,
  ): Promise<Outcome> {
    const stored = blobs.filter(({ hash }) => find(hash) !== undefined);
    const has = new Set(stored);
    const share = { bytes: 0 };
    try {
      const missing = blobs.filter((blob) => !has.has(blob));
      const entries = await prepare({ missing, opened, share });
      if (entries === undefined) return 'large';
      return await join(
        entries,
        stored.map(({ hash }) => hash),
      );
    } finally {
      heldBytes -= share.bytes;
    }
  }

  /** undefined when it is too much to hold. */
  async function prepare({ missing, opened, share }: Preparation) {
    const claim = (bytes: number): boolean => {
      if (share.bytes + bytes > CALL_BYTES || heldBytes + bytes > ALL_BYTES) return false;
      share.bytes += bytes;
      heldBytes += bytes;
      return true;
    };
    const entries: PackEntry[] = [];
    for (const blob of missing) {
      const expected = blob.size ?? 0;
      if (!claim(expected)) return;
      const content = await blob.content();
      if ('chunks' in content) {
        opened.set(blob, content);
        return;
      }
      if (content.byteLength > expected && !claim(content.byteLength - expected)) return;
      requireContent(content, blob.hash);
      entries.push(await toEntry(blob.hash, content));
    }
    return entries;
  }

  function join(entries: readonly PackEntry[], stored: readonly Hash[]): Promise<Outcome> {
    const bytes = entries.reduce((sum, one) => sum + one.bytes.byteLength, 0);
    return new Promise((resolve, reject) => {
      waiting.push({ entries, stored, bytes, resolve, reject });
      if (waiting.length === 1) void writing.run(writeGroup);
    });
  }

  /** Never throws: every caller gets an answer of its own. */
  async function writeGroup(): Promise<void> {
    const group = waiting;
    waiting = [];
    try {
      deps.requireSound();
      const calls = thoseThatFit(group);
      const kept = await writeAll(calls);
      for (const call of calls) {
        if (!kept.has(call)) call.resolve('gone');
        else answer(call);
      }
      await deps.afterwards();
    } catch (error) {
      // Those that were answered already do not notice.
      for (const call of group) call.reject(error);
    }
  }

  function answer({ entries, stored, resolve }: Call): void {
    for (const { hash } of entries) acknowledged.add(hash);
    for (const hash of stored) acknowledged.add(hash);
    resolve('done');
  }

  /** One caller's large content is no reason to refuse another's small one. */
  function thoseThatFit(calls: readonly Call[]): readonly Call[] {
    let taken = 0;
    return calls.filter((call) => {
      if (call.bytes === 0) return true;
      try {
        deps.requireSpace(taken + call.bytes);
      } catch (error) {
        call.reject(error);
        return false;
      }
      taken += call.bytes;
      return true;
    });
  }

  /** Answers those whose contents are all on the disk now. */
  async function writeAll(calls: readonly Call[]): Promise<ReadonlySet<Call>> {
    const fresh = new Map<Hash, PackEntry>();
    const kept = new Set<Call>();
    for (const call of calls) {
      let isThere = true;
      for (const hash of call.stored) isThere &&= await isSafe(hash);
      if (!isThere) continue;
      kept.add(call);
      for (const entry of call.entries) {
        if (!fresh.has(entry.hash) && !(await isSafe(entry.hash))) fresh.set(entry.hash, entry);
      }
    }
    if (fresh.size > 0) await deps.add([...fresh.values()]);
    return kept;
  }

  async function isSafe(hash: Hash): Promise<boolean> {
    if (acknowledged.has(hash)) return true;
    const pack = find(hash);
    return pack !== undefined && deps.assure(pack);
  }

  return writeBlobs;
}

/** A source that was opened to see what it is serves the first reading. */
function reusing(blob: NewBlob, opened: Map<NewBlob, ContentSource>): NewBlob {
  const content = (): Content | Promise<Content> => {
    const source = opened.get(blob);
    opened.delete(blob);
    return source ?? blob.content();
  };
  return { ...blob, content };
}
