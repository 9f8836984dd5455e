import { lstatSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createEye } from '../../src/files/look.js';
import { createPace } from '../../src/files/pace.js';
import { hashOf } from './project.js';

describe('a second look at a file', () => {
  let folder: string;
  let path: string;
  const eye = createEye(createPace());

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'smithyd-look-'));
    path = join(folder, 'a.txt');
    writeFileSync(path, 'one');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Until a write would leave another stamp. */
  async function grownOld(): Promise<void> {
    while (Date.now() - lstatSync(path).ctimeMs < 30) await turn();
  }

  it('reads a young file again: its stamp would not tell', async () => {
    const first = await eye.look(path);
    expect(first.isTelling).toBe(false);
    writeFileSync(path, 'two');
    expect(await eye.lookAgain(path, first)).toMatchObject({ hash: hashOf('two') });
  });

  it('believes the stamp of an old one', async () => {
    await grownOld();
    const first = await eye.look(path);
    expect(first.isTelling).toBe(true);
    expect(await eye.lookAgain(path, first)).toBe(first);
  });

  it('sees a write of the same size, with the old time put back', async () => {
    await grownOld();
    const { atime, mtime } = lstatSync(path);
    const first = await eye.look(path);
    writeFileSync(path, 'two');
    utimesSync(path, atime, mtime);
    expect(await eye.lookAgain(path, first)).toMatchObject({ hash: hashOf('two') });
  });

  it('sees that it is gone, and that something is there now', async () => {
    await grownOld();
    const first = await eye.look(path);
    rmSync(path);
    expect(await eye.lookAgain(path, first)).toEqual({ kind: 'nothing' });
    const nothing = await eye.look(path);
    writeFileSync(path, 'new');
    expect(await eye.lookAgain(path, nothing)).toMatchObject({ hash: hashOf('new') });
  });
});
