import { describe, expect, it } from '@jest/globals';
import { PendingChanges } from '../../src/core/coalesce.js';
import { applyFact, createDialogState, type DialogState } from '../../src/core/dialogs.js';
import type { CommitId, DialogId, Hash, Path } from '../../src/core/model.js';
import type { CheckpointStore, CommitRequest, FileChange } from '../../src/core/store.js';
import type { TreeWriter } from '../../src/core/tree-writer.js';
import type { ChangeBatch, KnownEntry, Watcher } from '../../src/core/watching.js';
import { Saving } from '../../src/workspace/saving.js';

const P = 'p' as Path;
const dialog = 'D' as DialogId;

/** What a watcher is to its readers: it knows at once and tells a moment later. */
function lateTeller() {
  const known = new Map<Path, KnownEntry>();
  const held = new PendingChanges();
  const listeners: ((batch: ChangeBatch) => void)[] = [];
  const publish = (): void => {
    const batch = held.take();
    if (batch.changes.length > 0) for (const listener of listeners) listener(batch);
  };
  return {
    publish,
    write(digit: string | undefined, path = P): void {
      const before = known.get(path);
      const state = { hash: (digit ?? '').repeat(40) as Hash, mode: '100644' } as const;
      if (digit === undefined) known.delete(path);
      else known.set(path, { path, kind: 'file', size: 1, ...state });
      const after = known.get(path);
      held.add({ path, before, after, origin: 'live', echo: false });
    },
    watcher: {
      publish,
      get: (path: Path) => known.get(path),
      entries: () => known.values(),
      emptyFolders: () => [],
      skipped: () => [],
      rules: () => undefined,
      settle: () => Promise.resolve({ fresh: true }),
      onChange: (listener: (batch: ChangeBatch) => void) => {
        listeners.push(listener);
        return () => undefined;
      },
    } as unknown as Watcher,
  };
}

function setUp() {
  const disk = lateTeller();
  const commits: string[][] = [];
  const prepared: string[][] = [];
  const described = (changes: Iterable<FileChange>): string[] =>
    [...changes].map((one) => `${one.path} ${'hash' in one ? one.hash.slice(0, 1) : 'gone'}`);
  const store = {
    prepare: ({ changes }: CommitRequest) => {
      prepared.push(described(changes));
      return Promise.resolve();
    },
    commit: ({ changes }: CommitRequest) => {
      commits.push(described(changes));
      return Promise.resolve(String(commits.length).padStart(40, '0') as CommitId);
    },
  } as unknown as CheckpointStore;
  const files = {
    reading: <T>(work: (read: () => Promise<null>) => Promise<T>) =>
      work(() => Promise.resolve(null)),
    placeOf: (path: string) => path,
  } as unknown as TreeWriter;
  const saving = new Saving({
    store,
    files,
    contents: { remembered: () => undefined, remember: () => undefined },
    watcher: disk.watcher,
    clock: { now: () => 0, monotonic: () => 0 },
    seed: () => Promise.resolve(new Set()),
  } as unknown as ConstructorParameters<typeof Saving>[0]);
  let state: DialogState | undefined;
  const save = async (): Promise<string[] | undefined> => {
    const request = { kind: 'manual', message: 'm', always: false } as const;
    const before = commits.length;
    if (state === undefined) {
      const { commit } = await saving.saveFirst(dialog, request);
      state = createDialogState(dialog, '', { title: 't', initial: commit });
    } else {
      const { commit, isNew } = await saving.save(state, request);
      if (isNew) state = applyFact(state, '', { what: 'saved', commit, kind: 'manual' });
    }
    return commits.length > before ? commits.at(-1) : undefined;
  };
  const makeReady = async (): Promise<string[] | undefined> => {
    const before = prepared.length;
    if (state !== undefined) await saving.makeReady(state);
    return prepared.length > before ? prepared.at(-1) : undefined;
  };
  return { disk, save, makeReady };
}

describe('a checkpoint', () => {
  it('misses no deletion of what was known before it was told', async () => {
    const { disk, save } = setUp();
    disk.write('1');
    expect(await save()).toEqual(['p 1']);
    disk.write(undefined);
    disk.publish();
    // Made, saved and deleted again before anybody was told that it had been made.
    disk.write('2');
    expect(await save()).toEqual(['p 2']);
    disk.write(undefined);
    disk.publish();
    expect(await save()).toEqual(['p gone']);
    expect(await save()).toBeUndefined();
  });

  it('misses no change back to what was told last', async () => {
    const { disk, save } = setUp();
    disk.write('1');
    await save();
    disk.write('2');
    disk.publish();
    disk.write('3');
    expect(await save()).toEqual(['p 3']);
    disk.write('2');
    disk.publish();
    expect(await save()).toEqual(['p 2']);
  });

  it('is made ready of what few files were told to differ, and of no others', async () => {
    const { disk, save, makeReady } = setUp();
    disk.write('1');
    await save();
    expect(await makeReady()).toBeUndefined();
    disk.write('2');
    disk.publish();
    disk.write('3', 'untold' as Path);
    expect(await makeReady()).toEqual(['p 2']);
    for (let at = 0; at < 8; at++) disk.write('1', `more${at}` as Path);
    disk.publish();
    expect(await makeReady()).toBeUndefined();
    expect(await save()).toHaveLength(10);
    disk.write(undefined);
    disk.publish();
    expect(await makeReady()).toEqual(['p gone']);
  });
});
