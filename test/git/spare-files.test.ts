import { closeSync, fstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSpareFiles, type SpareFiles } from '../../src/git/spare-files.js';
import { temporaryFolder } from './helpers.js';
import { until } from '../support/until.js';

describe('files made in advance', () => {
  let folder: string;
  let spares: SpareFiles;
  const names = (): string[] => readdirSync(folder);

  beforeEach(async () => {
    folder = join(temporaryFolder(), 'spare');
    spares = createSpareFiles(folder);
    await spares.open();
  });
  afterEach(() => spares.close());

  it('are there after a while, and given away without waiting', async () => {
    await until('all are made', () => names().length === 6);
    const spare = spares.take();
    expect(spare).not.toBeInstanceOf(Promise);
    const { path, file } = await spare;
    expect(fstatSync(file)).toMatchObject({ size: 0, nlink: 1 });
    rmSync(path);
    closeSync(file);
    await until('all are made', () => names().length === 6);
  });

  it('are made on the spot when there are none', async () => {
    await until('all are made', () => names().length === 6);
    const taken = await Promise.all(Array.from({ length: 20 }, async () => spares.take()));
    expect(new Set(taken.map(({ path }) => path)).size).toBe(20);
    taken.forEach(({ file }) => closeSync(file));
  });

  it('are not given away when somebody has removed them', async () => {
    await until('all are made', () => names().length === 6);
    for (const name of names()) rmSync(join(folder, name));
    const { path, file } = await spares.take();
    expect(names()).toContain(path.slice(folder.length + 1));
    closeSync(file);
  });

  it('are gone after the end, as is what a killed one left', async () => {
    await until('all are made', () => names().length === 6);
    await spares.close();
    expect(names()).toEqual([]);
    writeFileSync(join(folder, '3'), 'half a pack');
    await spares.open();
    await until('all are made', () => names().length === 6);
    expect(fstatSync((await spares.take()).file).size).toBe(0);
  });

  it('come back when their folder was removed, and not when the store was', async () => {
    rmSync(folder, { recursive: true });
    const taken = await Promise.all([spares.take(), spares.take()]);
    taken.forEach(({ file }) => closeSync(file));
    rmSync(dirname(folder), { recursive: true });
    await expect(Promise.resolve(spares.take())).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
