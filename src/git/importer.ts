import type { CommitId, Hash } from '../core/model.js';
import type { CommitRequest, FileChange, NewBlob } from '../core/store.js';
import { sendBlob } from './blobs.js';
import { startImport, type ImportChild } from './import-child.js';
import { checkpoint, commitEnd, commitHead, fileCommands } from './import-stream.js';
import type { Layout } from './layout.js';
import { requireId } from './names.js';
import type { Git } from './run.js';

export interface Written {
  readonly id: CommitId;
  /** What must be flushed before anything may refer to the commit. */
  readonly packs: readonly string[];
}

export interface Importer {
  commit(request: CommitRequest, changes: readonly FileChange[], tree?: string): Promise<Written>;
  blobs(blobs: Iterable<NewBlob>): Promise<readonly string[]>;
  /** Ends the child, so that its packs are free to be repacked; answers packs not flushed yet. */
  finish(): Promise<readonly string[]>;
  /** Blobs may have left the store. */
  forget(): void;
  isAlive(): boolean;
}

/** fast-import walks over all objects of its life at every checkpoint: a long life gets slow. */
const OBJECTS_PER_CHILD = 10_000;
const KNOWN_BLOBS = 200_000;

/** Feeds one long-lived fast-import, and a fresh one when that has died or grown old. */
export function createImporter(git: Git, layout: Layout): Importer {
  let child: ImportChild | undefined;
  let sent = 0;
  let number = 0;
  /** Commits of the present child, by the mark they have there. */
  let marks = new Map<CommitId, number>();
  /** Blobs that were acknowledged: sending them again would only cost time. */
  const known = new Set<Hash>();

  /** A child on its way out; its successor starts as soon as it is gone. */
  let retiring: Promise<void> | undefined;
  /** Packs that it finished without anybody asking. */
  let leftovers: readonly string[] = [];

  async function ready(): Promise<ImportChild> {
    await retiring;
    if (child?.isAlive() === true) return child;
    return start();
  }

  async function start(): Promise<ImportChild> {
    marks = new Map();
    sent = 0;
    return (child = await startImport(git, layout));
  }

  async function sendAll(to: ImportChild, blobs: Iterable<NewBlob & { path?: string }>) {
    const fresh: Hash[] = [];
    for (const blob of blobs) {
      if (known.has(blob.hash)) continue;
      await sendBlob(to, blob, blob.path);
      fresh.push(blob.hash);
      sent++;
    }
    return fresh;
  }

  async function settle(to: ImportChild, fresh: readonly Hash[]) {
    const token = `done-${++number}`;
    await to.send(checkpoint(token));
    const lines = await to.answer(token);
    const packs = to.newPacks();
    if (known.size + fresh.length > KNOWN_BLOBS) known.clear();
    for (const hash of fresh.slice(0, KNOWN_BLOBS)) known.add(hash);
    return { lines, packs };
  }

  /** Behind the back of the caller who made it old, and before the next one comes. */
  function retireIfOld(): void {
    if (sent <= OBJECTS_PER_CHILD) return;
    retiring = end()
      .then(async (packs) => {
        leftovers = packs;
        await start();
      })
      .catch(() => undefined)
      .finally(() => (retiring = undefined));
  }

  async function finish(): Promise<readonly string[]> {
    await retiring;
    return [...takeLeftovers(), ...(await end())];
  }

  function takeLeftovers(): readonly string[] {
    const taken = leftovers;
    leftovers = [];
    return taken;
  }

  async function end(): Promise<readonly string[]> {
    const ending = child;
    child = undefined;
    if (ending === undefined) return [];
    await ending.end().catch(() => undefined);
    return ending.newPacks();
  }

  return {
    async commit(request, changes, tree) {
      // Refuses a bad path here: half a commit could not be taken back.
      const commands = [...fileCommands(changes)];
      const to = await ready();
      const fresh = await sendAll(to, changes.filter(isBlob));
      const mark = ++number;
      const nameOf = (id: CommitId): string => (marks.has(id) ? `:${marks.get(id) ?? 0}` : id);
      await to.send(commitHead({ request, mark, nameOf, tree }));
      for (const command of commands) await to.send(command);
      sent += changes.length;
      await to.send(commitEnd(mark));
      const { lines, packs } = await settle(to, fresh);
      const id = requireId(lines.at(-1) as CommitId);
      marks.set(id, mark);
      retireIfOld();
      return { id, packs: [...takeLeftovers(), ...packs] };
    },
    async blobs(blobs) {
      const to = await ready();
      const fresh = await sendAll(to, blobs);
      return fresh.length === 0 ? [] : (await settle(to, fresh)).packs;
    },
    finish,
    forget: () => known.clear(),
    isAlive: () => child?.isAlive() === true,
  };
}

function isBlob(change: FileChange): change is FileChange & NewBlob {
  return 'content' in change;
}
