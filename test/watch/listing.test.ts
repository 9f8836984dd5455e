import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Lister, type Listing, type Unlisted } from '../../src/watch/scan/listing.js';
import { path, project } from '../support/project.js';

describe('the listing of a large folder', () => {
  let folder: string;
  const make = (count: number): void => {
    for (let index = 0; index < count; index += 1) writeFileSync(`${folder}/f${index}`, '');
  };
  /** Whether this process holds the folder open. */
  const isOpen = (): boolean =>
    readdirSync('/proc/self/fd').some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === folder;
      } catch {
        return false;
      }
    });

  /** Everything, with a pause wherever one is possible. */
  function listAll(lister: Lister): { result: Listing | Unlisted; pauses: number } {
    for (let pauses = 0; ; pauses += 1) {
      const result = lister.advance(() => true);
      if (result !== undefined) return { result, pauses };
    }
  }

  function namesOf(result: Listing | Unlisted): string[] {
    return typeof result === 'string' ? [result] : result.entries.map(({ name }) => name).sort();
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'smithyd-listing-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('can be left off many times and is complete', () => {
    make(5_000);
    const { result, pauses } = listAll(new Lister(folder, true));
    expect(pauses).toBeGreaterThan(5);
    expect(namesOf(result)).toEqual(readdirSync(folder).sort());
    expect(isOpen()).toBe(false);
  });

  it('tells damaged names from real ones, as that of a small one does', () => {
    make(1_500);
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/bad-`), Buffer.from([0xff])]), '');
    writeFileSync(`${folder}/\uFFFD`, '');
    const inParts = listAll(new Lister(folder, true)).result;
    const atOnce = listAll(new Lister(folder, false)).result;
    expect(namesOf(inParts)).toEqual(namesOf(atOnce));
    expect(namesOf(inParts)).toContain('\uFFFD');
    expect(inParts).toMatchObject({ oddNames: ['bad-\\xff'] });
    expect(atOnce).toMatchObject({ oddNames: ['bad-\\xff'] });
  });

  it('can be given up', () => {
    make(2_000);
    const lister = new Lister(folder, true);
    expect(lister.advance(() => true)).toBeUndefined();
    expect(isOpen()).toBe(true);
    lister.close();
    expect(isOpen()).toBe(false);
  });

  it('says when there is no such folder', () => {
    for (const isLarge of [true, false]) {
      expect(new Lister(`${folder}/missing`, isLarge).advance(() => false)).toBe('gone');
    }
  });
});

it('a folder with thousands of entries is known, and so is every change of it', async () => {
  const here = project();
  try {
    mkdirSync(`${here.root}/many`);
    const name = (index: number): string => `many/entry-number-${index}`;
    for (let index = 0; index < 3_000; index += 1) {
      writeFileSync(`${here.root}/${name(index)}`, String(index));
    }
    const watched = await here.watch();
    expect(watched.state().size).toBe(3_000);
    for (let index = 0; index < 1_000; index += 1) {
      rmSync(`${here.root}/${name(index)}`);
      writeFileSync(`${here.root}/${name(index + 5_000)}`, 'new');
    }
    await watched.watcher.rescan();
    expect(watched.state().size).toBe(3_000);
    expect(watched.watcher.get(path(name(999)))).toBeUndefined();
    expect(watched.watcher.get(path(name(5_999)))?.size).toBe(3);
  } finally {
    await here.end();
  }
});

describe('a file made while its folder is listed in parts', () => {
  it('is known when the barrier is reached', async () => {
    const here = project();
    try {
      writeFileSync(`${here.root}/.gitignore`, 'x-*\n');
      mkdirSync(`${here.root}/large`);
      writeFileSync(`${here.root}/large/x-0`, '');
      // Further names are made in a moment; ignored, so that nobody reads them.
      for (let at = 1; at < 50_000; at++)
        linkSync(`${here.root}/large/x-0`, `${here.root}/large/x-${at}`);
      const made = Array.from({ length: 50 }, (_, at) => `large/new-${at}.ts`);
      const watched = await here.watch({
        engine: (engine) => ({
          ...engine,
          watch(folder) {
            const result = engine.watch(folder);
            // The first part is listed in this turn of the loop, and there are several.
            const make = () => made.forEach((name) => writeFileSync(`${here.root}/${name}`, '1'));
            if (folder === 'large') setImmediate(make);
            return result;
          },
        }),
      });
      await watched.settle();
      expect([...watched.state().keys()].sort()).toEqual(['.gitignore', ...made].sort());
    } finally {
      await here.end();
    }
  });
});
