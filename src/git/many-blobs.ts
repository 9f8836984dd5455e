import type { Hash } from '../core/model.js';
import type { NewBlob, OnProgress } from '../core/store.js';
import { isStale, stale } from './blobs.js';
import { startDeflateThreads, ThreadsGone, type DeflateThreads } from './deflate-threads.js';
import type { DeflateReply } from './deflate-wire.js';
import { diskFailure } from './failures.js';
import { openLargePack, type LargePack, type LargePackPlace } from './large-pack.js';
import type { Packs } from './packs.js';

export interface ManyBlobsDeps {
  /** Where packs are. */
  readonly folder: string;
  readonly packs: Pick<Packs, 'knows'>;
  readonly isKnown: (hash: Hash) => boolean;
  /** On the disk for certain; takes a look at the packs. */
  readonly isStored: (hash: Hash) => Promise<boolean>;
  readonly isRepacking: () => boolean;
  /** Flushes a pack and counts it in. */
  readonly admit: (paths: readonly string[]) => Promise<void>;
  /** Flushed, all of them. */
  readonly acknowledge: (hashes: readonly Hash[]) => void;
}

type NamedBlob = NewBlob & { readonly path?: string };

/** From here on the threads save more than they cost. */
const MANY_BLOBS = 1_000;
const BATCH_BLOBS = 128;
const BATCH_BYTES = 512 * 1024;
/** What is larger is held by nobody; git's own child takes it piece by piece. */
const LARGEST = 1024 * 1024;
/** An index of this kind tells places below 2 GiB. */
const LARGEST_PACK = 1024 * 1024 * 1024;

/**
 * Many contents at once, read and packed by several threads. Git's child would check and deflate them
 * one after the other: on two processors 100,000 files took it 11 s, with the reader waiting for it.
 * What is not in a pack afterwards is for that child all the same.
 */
export function createManyBlobs(deps: ManyBlobsDeps) {
  const { admit, acknowledge, isKnown, isRepacking } = deps;
  let made = 0;

  /** Answers what is packed and flushed now. */
  async function write(blobs: readonly NamedBlob[], onProgress?: OnProgress) {
    const all = new Set<Hash>();
    const found = distinct(blobs.filter(({ hash }) => !isKnown(hash)));
    // What a pack of ours has twice, a repack leaves to the one that it must not touch.
    const unknown = isRepacking() ? await notStored(found) : found;
    if (unknown.length < MANY_BLOBS) return all;
    const threads = startDeflateThreads();
    try {
      for (let from = 0; from < unknown.length;) {
        const place = { ...deps, number: ++made, isHeld: isRepacking };
        const pack = opened(place, smallOnes(unknown, from));
        const { read, packed, error } = await fill(pack, {
          ...{ threads, blobs: unknown, from, onProgress },
        });
        if (error instanceof ThreadsGone) {
          pack.discard();
          return all;
        }
        await keep(pack, { packed, error });
        for (const hash of packed) all.add(hash);
        from += read;
      }
      return all;
    } finally {
      threads.end();
    }
  }

  async function notStored(blobs: readonly NamedBlob[]): Promise<NamedBlob[]> {
    const missing: NamedBlob[] = [];
    for (const blob of blobs) if (!(await deps.isStored(blob.hash))) missing.push(blob);
    return missing;
  }

  /** When one content has changed, the others are kept: whoever tries again goes on from there. */
  async function keep(pack: LargePack, { packed, error }: Pick<Filled, 'packed' | 'error'>) {
    const isWhole = error === undefined || isStale(error);
    try {
      if (isWhole && packed.length > 0) await admit([finished(pack)]);
    } finally {
      pack.discard();
    }
    if (isWhole) acknowledge(packed);
    if (error !== undefined) throw error;
  }

  return write;
}

function smallOnes(blobs: readonly NewBlob[], from: number): number {
  return blobs.reduce((sum, { size = 0 }, at) => sum + Number(at >= from && size <= LARGEST), 0);
}

function opened(place: LargePackPlace, expected: number): LargePack {
  try {
    return openLargePack(place, expected);
  } catch (error) {
    throw diskFailure('write', error);
  }
}

function finished(pack: LargePack): string {
  try {
    return pack.finish();
  } catch (error) {
    throw diskFailure('write', error);
  }
}

interface Filled {
  /** How many were looked at. */
  readonly read: number;
  readonly packed: readonly Hash[];
  readonly error: Error | undefined;
}

interface Filling {
  readonly threads: DeflateThreads;
  readonly blobs: readonly NamedBlob[];
  readonly from: number;
  readonly onProgress: OnProgress | undefined;
}

interface PlacedBlob extends NamedBlob {
  readonly place: string;
}

interface Loaded {
  readonly blob: NamedBlob;
  readonly content: Uint8Array;
}

async function fill(pack: LargePack, filling: Filling): Promise<Filled> {
  const { threads, blobs, from, onProgress } = filling;
  const packed: Hash[] = [];
  const under = new Set<Promise<void>>();
  let read = 0;
  let error: Error | undefined;
  const failed = (reason: unknown): void => {
    error ??= reason instanceof Error ? reason : new Error(String(reason));
  };

  function nextBatch(): NamedBlob[] {
    const batch: NamedBlob[] = [];
    for (let bytes = 0; batch.length < BATCH_BLOBS && bytes < BATCH_BYTES; read += 1) {
      const blob = blobs[from + read];
      if (blob === undefined) break;
      onProgress?.(from + read, blobs.length);
      const { size = 0 } = blob;
      if (size > LARGEST) continue;
      batch.push(blob);
      bytes += size;
    }
    return batch;
  }

  /** Most are where they are said to be; the others are for the hands that know the way. */
  async function work(batch: readonly NamedBlob[]): Promise<void> {
    const placed = batch.filter(isPlaced);
    const elsewhere = batch.filter((blob) => !isPlaced(blob));
    const missed = placed.length === 0 ? [] : await readByThread(placed);
    const loaded = await load([...elsewhere, ...missed]);
    if (loaded.length === 0) return;
    const reply = await threads.deflate(
      loaded.map(({ content }) => content),
      loaded.map(({ blob }) => blob.hash),
    );
    const loadedBlobs = loaded.map(({ blob }) => blob);
    const [wrong] = take(loadedBlobs, reply);
    if (wrong !== undefined) error ??= stale(wrong.path, wrong.hash);
  }

  async function readByThread(placed: readonly PlacedBlob[]): Promise<NamedBlob[]> {
    const places = placed.map(({ place }) => place);
    const sizes = placed.map(({ size = 0 }) => size);
    const hashes = placed.map(({ hash }) => hash);
    return take(placed, await threads.readAndDeflate({ places, sizes }, hashes));
  }

  /** Answers those that are not what their names say. */
  function take(batch: readonly NamedBlob[], reply: DeflateReply): NamedBlob[] {
    const isWrong = new Set(reply.wrong);
    const hashes = batch.map(({ hash }) => hash);
    add(pack, hashes, reply);
    for (const [at, hash] of hashes.entries()) if (!isWrong.has(at)) packed.push(hash);
    return batch.filter((_, at) => isWrong.has(at));
  }

  while (from + read < blobs.length && error === undefined && pack.bytes() < LARGEST_PACK) {
    const working = work(nextBatch()).catch(failed);
    under.add(working);
    void working.finally(() => under.delete(working));
    while (under.size >= threads.atOnce) await Promise.race(under);
  }
  await Promise.all(under);
  return { read, packed, error };
}

function isPlaced(blob: NamedBlob): blob is PlacedBlob {
  return blob.place !== undefined;
}

/** Without what turned out to be large: nobody holds that. */
async function load(blobs: readonly NamedBlob[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  for (const blob of blobs) {
    const content = await blob.content();
    if (!('chunks' in content)) loaded.push({ blob, content });
  }
  return loaded;
}

function add(pack: LargePack, hashes: readonly Hash[], reply: DeflateReply): void {
  try {
    pack.add(hashes, reply);
  } catch (error) {
    throw diskFailure('write', error);
  }
}

function distinct(blobs: readonly NamedBlob[]): NamedBlob[] {
  return [...new Map(blobs.map((blob) => [blob.hash, blob])).values()];
}
