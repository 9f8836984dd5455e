import { once } from 'node:events';
import { join } from 'node:path';
import type { CommitId, Hash } from '../core/model.js';
import type { Queue } from '../core/queue.js';
import { KEPT, type OnProgress, type StoreSizes } from '../core/store.js';
import { gitFailure } from './failures.js';
import type { Layout } from './layout.js';
import { ownDialogs } from './layout.js';
import type { Packs } from './packs.js';
import { readBranches, readTips } from './refs.js';
import type { Git } from './run.js';

export interface PruneDeps {
  readonly git: Git;
  readonly layout: Layout;
  readonly packs: Packs;
  /** Flushes new packs and counts them in. */
  readonly admit: (packs: readonly string[]) => Promise<void>;
  /** After a flush that failed; answers what to throw. */
  readonly doubt: (error: unknown, fresh: readonly string[]) => Promise<Error>;
  /** The writers' queue. */
  readonly writing: Queue;
  /** Ends whatever remembers which objects there are; called in the queue. */
  readonly quiesce: () => Promise<void>;
  /** Blobs that must stay and are there. Asked again, it is quick. */
  readonly pinned: () => Promise<ReadonlySet<Hash>>;
  /** Which of these are among our objects. */
  readonly has: (ids: readonly Hash[]) => Promise<ReadonlySet<Hash>>;
}

export interface PruneOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

const NONE: ReadonlySet<string> = new Set();

interface Roots {
  readonly commits: ReadonlySet<CommitId>;
  readonly blobs: ReadonlySet<Hash>;
}

/**
 * Writes one pack of everything that is reachable, flushes it, and only then removes the others.
 * A kill at any point leaves every reachable object in at least one pack.
 *
 * Commits go on while the large pack is written. They may use an object that only the doomed packs
 * hold, so the writers stop for the end: what became reachable meanwhile is packed too, which is
 * little, and a writer that remembers an old pack is replaced before that pack goes.
 */
export async function prune(deps: PruneDeps, options: PruneOptions): Promise<number> {
  const { packs, layout, writing, quiesce, doubt } = deps;
  const pathOf = (name: string): string => join(layout.packs, name);
  // The long first look, before writers have to wait for one.
  await deps.pinned();
  const { old, roots } = await writing.run(async () => {
    await quiesce();
    return { old: packs.names(), roots: await rootsOf(deps) };
  });
  const all = { wanted: [...roots.commits, ...roots.blobs] };
  // Git gives up when a small pack that it saw was rolled up by a writer: once more without them.
  const early = await pack(deps, all, options).catch(() => undefined);
  // A pack that was there before is what the others count on.
  const made = (early ?? []).filter((name) => !old.includes(name));
  await packs.flush((early ?? []).map(pathOf)).catch(async (error: unknown) => {
    throw await doubt(error, made.map(pathOf));
  });
  return writing.run(async () => {
    await quiesce();
    const now = await rootsOf(deps);
    const wanted = [
      ...[...now.commits].filter((id) => !roots.commits.has(id)),
      ...[...now.blobs].filter((id) => !roots.blobs.has(id)),
    ];
    const kept = early ?? (await pack(deps, all, options));
    // Only what the doomed packs alone hold; everything else stays where it is.
    const staying = [...kept, ...packs.names().filter((name) => !old.includes(name))];
    const selection = { wanted, without: [...roots.commits], staying };
    const late = await pack(deps, selection, options).catch(async (error: unknown) => {
      // Cut off. No old pack has gone yet, and they have all that is in the new one.
      await packs.remove(kept.filter((name) => !old.includes(name)));
      throw error;
    });
    const fresh = [...kept, ...late];
    const before = packs.sizes().bytes;
    await deps.admit(fresh.map(pathOf));
    await packs
      .remove(old.filter((name) => !fresh.includes(name)))
      .catch(async (error: unknown) => {
        throw await doubt(error, []);
      });
    return Math.max(0, before - packs.sizes().bytes);
  });
}

/** What `prune` would free without these: the pack is made, and only counted. */
export async function prunable(
  deps: PruneDeps,
  gone: ReadonlySet<string>,
  options: PruneOptions,
): Promise<number> {
  const { packs, writing, quiesce } = deps;
  await deps.pinned();
  const { before, roots } = await writing.run(async () => {
    await quiesce();
    return { before: packs.sizes().bytes, roots: await rootsOf(deps, gone) };
  });
  const after = await weigh(deps, [...roots.commits, ...roots.blobs], options);
  return Math.max(0, before - after.bytes);
}

async function rootsOf(
  { layout, pinned, has }: PruneDeps,
  gone: ReadonlySet<string> = NONE,
): Promise<Roots> {
  const tips = await allTips(layout, gone);
  for (const dialog of await ownDialogs(layout)) {
    for (const id of await readTips(layout, dialog)) tips.add(id);
  }
  // A branch that somebody made by hand may name a commit that is not among our objects.
  const commits = [...(await has([...tips] as string[] as Hash[]))].map(
    (id) => id as string as CommitId,
  );
  return { commits: new Set(commits), blobs: await pinned() };
}

/** Where every branch of ours is, those of the whole project included but for `gone`. */
export async function allTips(
  layout: Layout,
  gone: ReadonlySet<string> = NONE,
): Promise<Set<CommitId>> {
  const tips = new Set<CommitId>();
  for (const dialog of [KEPT, ...(await ownDialogs(layout))]) {
    for (const [name, id] of await readBranches(layout, dialog)) {
      if (dialog !== KEPT || !gone.has(name)) tips.add(id);
    }
  }
  return tips;
}

interface Selection {
  readonly wanted: readonly string[];
  /** Commits whose content is packed already. */
  readonly without?: readonly string[];
  /** Packs whose objects are left out. */
  readonly staying?: readonly string[];
}

/** The names of the packs it made: one, or none when there is nothing to pack. */
async function pack(
  deps: PruneDeps,
  { wanted, without = [], staying = [] }: Selection,
  options: PruneOptions,
): Promise<string[]> {
  let stdout = '';
  await packObjects(deps, {
    ...options,
    args: [...staying.map((name) => `--keep-pack=${name}`), join(deps.layout.packs, 'pack')],
    revisions: [...wanted, ...without.map((id) => `^${id}`)],
    isNothing: wanted.length === 0,
    take: (bytes) => (stdout += bytes.toString()),
  });
  return stdout
    .split('\n')
    .filter((line) => /^[0-9a-f]{40}$/u.test(line))
    .map((hash) => `pack-${hash}.pack`);
}

/** Where a pack says how many objects are in it. */
const COUNT_AT = 8;
/** Of an index: its head and its end, and what each object takes. */
const INDEX_BYTES = 8 + 256 * 4 + 2 * 20;
const INDEX_BYTES_EACH = 20 + 4 + 4;

/** What one pack of all this and its index weigh. */
async function weigh(
  deps: PruneDeps,
  revisions: readonly string[],
  options: PruneOptions,
): Promise<Pick<StoreSizes, 'bytes' | 'objects'>> {
  let bytes = 0;
  let head = Buffer.alloc(0);
  await packObjects(deps, {
    ...options,
    args: ['--stdout'],
    revisions,
    isNothing: revisions.length === 0,
    take: (chunk) => {
      bytes += chunk.length;
      if (head.length < COUNT_AT + 4) head = Buffer.concat([head, chunk.subarray(0, 12)]);
    },
  });
  const objects = bytes === 0 ? 0 : head.readUInt32BE(COUNT_AT);
  return { objects, bytes: objects === 0 ? 0 : bytes + INDEX_BYTES + objects * INDEX_BYTES_EACH };
}

interface Packing extends PruneOptions {
  readonly args: readonly string[];
  readonly revisions: readonly string[];
  readonly isNothing: boolean;
  readonly take: (stdout: Buffer) => void;
}

async function packObjects(
  { git }: PruneDeps,
  { args, revisions, isNothing, take, signal, onProgress }: Packing,
): Promise<void> {
  signal.throwIfAborted();
  if (isNothing) return;
  // Existing deltas are reused and no new ones searched: somebody waits for the answer.
  const child = git.start(['pack-objects', '--progress', '--revs', '--window=0', ...args]);
  const kill = (): boolean => child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  let stderr = '';
  child.stdout.on('data', take);
  child.stderr.on('data', (bytes: Buffer) => {
    const text = bytes.toString();
    stderr = (stderr + text).slice(-4096);
    const [, done, total] = /Writing objects:.*\((\d+)\/(\d+)\)/u.exec(text) ?? [];
    if (total !== undefined) onProgress?.(Number(done), Number(total));
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end([...revisions, ''].join('\n'));
  const [status] = (await once(child, 'close')) as [number | null];
  signal.removeEventListener('abort', kill);
  signal.throwIfAborted();
  if (status !== 0) throw gitFailure('pack-objects', stderr);
}
