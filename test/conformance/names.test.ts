import { spawnSync } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { sharedWork } from '../support/work.js';

interface Difference {
  readonly files: readonly { readonly path: string; readonly is_binary: boolean }[];
  readonly text: string;
}

const isRoot = process.getuid?.() === 0;

describe('names and types', () => {
  const shared = sharedWork();

  it('14: a diff lists accents in both forms and emoji as they are written', async () => {
    const work = shared();
    const names = ['cafe\u0301.txt', 'caf\u00e9.txt', '\u65e5\u672c\u8a9e/\u{1f600}.txt'];
    const { initial_checkpoint: initial } = await work.fresh(
      Object.fromEntries(names.map((name) => [name, 'old\n'])),
    );
    for (const name of names) work.put({ [name]: 'new\n' });
    const { files, text } = await work.call<Difference>('diff', { from: initial });
    expect(files.map(({ path }) => path).sort()).toEqual([...names].sort());
    for (const name of names) expect(text).toContain(`+++ b/${name}\n`);
    const { stdout } = await work.project.cli(['diff', initial, '--stat']);
    for (const name of names) expect(stdout).toContain(name);
  });

  it('29: a diff says of a binary file that it is one', async () => {
    const work = shared();
    const { initial_checkpoint: initial } = await work.fresh({ bin: Buffer.from([0, 1, 2]) });
    work.put({ bin: Buffer.from([0, 255, 254]), text: 'plain\n' });
    const { files, text } = await work.call<Difference>('diff', { from: initial });
    expect(files.map((file) => [file.path, file.is_binary])).toEqual([
      ['bin', true],
      ['text', false],
    ]);
    expect(text).toContain('Binary files a/bin and b/bin differ\n');
  });

  // Only root may make a device.
  (isRoot ? it : it.skip)('25: a device is skipped by name and never opened', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    // The one that never ends for whoever reads it.
    expect(spawnSync('mknod', [work.at('zero'), 'c', '1', '5']).status).toBe(0);
    work.put({ a: '1' });
    const { commit_id: commit, skipped } = await work.save();
    expect(skipped).toEqual([{ path: 'zero', reason: 'special' }]);
    expect(Object.keys(await work.tree(commit))).toEqual(['a']);
    work.put({ a: '2' });
    await work.restore(commit);
    expect(work.read('a')).toBe('1');
    expect(lstatSync(work.at('zero')).isCharacterDevice()).toBe(true);
  });
});
