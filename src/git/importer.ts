import type { CommitId } from '../core/model.js';
import type { CommitRequest, FileChange, NewBlob, OnProgress } from '../core/store.js';
import type { Acknowledged } from './acknowledged.js';
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
  blobs(blobs: readonly NewBlob[]): Promise<readonly string[]>;
  /** Ends the child, so that its packs are free to be repacked; answers packs not flushed yet. */
  finish(): Promise<readonly string[]>;
  /** The child may have seen this many packs that have gone: looking through them slows it down. */
  age(packs: number): void;
  isAlive(): boolean;
}

/** fast-import walks over all objects of its life at every checkpoint: a long life gets slow. */
const OBJECTS_PER_CHILD = 10_000;
/** Git looks through all packs it ever saw: with 5,600 of them an object took it 28 ms. */
const OBJECTS_PER_PACK = 10;

/** Feeds one long-lived fast-import, and a fresh one when that has died or grown old. */
export function createImporter(git: Git, layout: Layout, acknowledged: Acknowledged): Importer {
  let child: ImportChild | undefined;
  let sent = 0;
  let number = 0;
  /** Commits of the present child, by the mark they have there. */
  let marks = new Map<CommitId, number>();

  /** A child on its way out; its successor starts as soon as it is gone. */
  let retiring: Promise<void> | undefined;
  /** Packs that it finished without anybody asking. */
  let leftovers: readonly string[] = [];

  async function ready(): Promise<ImportChild> {
    await retiring;
    return child?.isAlive() === true ? child : start();
  }

  async function start(): Promise<ImportChild> {
    marks = new Map();
    sent = 0;
    return (child = await startImport(git, layout));
  }

  async function sendAll(
    to: ImportChild,
    blobs: readonly (NewBlob & { path?: string })[],
    onProgress?: OnProgress,
  ) {
    let count = 0;
    for (const [done, blob] of blobs.entries()) {
      onProgress?.(done, blobs.length);
      if (acknowledged.has(blob.hash)) continue;
      await sendBlob(to, blob, blob.path);
      count++;
    }
    sent += count;
    return count;
  }

  async function settle(to: ImportChild) {
    const token = `done-${++number}`;
    await to.send(checkpoint(token));
    const lines = await to.answer(token);
    return { lines, packs: to.newPacks() };
  }

  /** Behind the back of the caller who made it old, and before the next one comes. */
  function retireIfOld(): void {
    if (sent <= OBJECTS_PER_CHILD) return;
    retiring = end()
      .then(async (packs) => {
        leftovers = [...leftovers, ...packs];
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
      const blobs = changes.filter(isBlob);
      const to = await ready();
      await sendAll(to, blobs, request.onProgress);
      const mark = ++number;
      const nameOf = (id: CommitId): string => (marks.has(id) ? `:${marks.get(id) ?? 0}` : id);
      await to.send(commitHead({ request, mark, nameOf, tree }));
      for (const command of commands) await to.send(command);
      sent += changes.length + 1;
      await to.send(commitEnd(mark));
      const { lines, packs } = await settle(to);
      const id = requireId(lines.at(-1) as CommitId);
      marks.set(id, mark);
      retireIfOld();
      return { id, packs: [...takeLeftovers(), ...packs] };
    },
    async blobs(blobs) {
      const to = await ready();
      const count = await sendAll(to, blobs);
      if (count === 0) return takeLeftovers();
      const { packs } = await settle(to);
      return [...takeLeftovers(), ...packs];
    },
    finish,
    age: (packs) => void (sent += packs * OBJECTS_PER_PACK),
    isAlive: () => child?.isAlive() === true,
  };
}

export function isBlob(change: FileChange): change is FileChange & NewBlob {
  return 'content' in change;
}
