import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readContent, readLink } from '../../src/watch/content/content.js';
import { project, type Project } from '../support/project.js';

describe('a folder swapped for a link to somewhere else', () => {
  let here: Project;
  let outside: string;

  beforeEach(() => {
    here = project();
    outside = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-outside-')));
    writeFileSync(`${outside}/file`, 'not of this project');
    symlinkSync('nor is this', `${outside}/link`);
  });
  afterEach(async () => {
    await here.end();
    rmSync(outside, { recursive: true, force: true });
  });

  it('leads no reader to what lies there', () => {
    symlinkSync(outside, `${here.root}/folder`);
    expect(readContent(`${here.root}/folder/file`, 1_000)).toEqual({ kind: 'moved' });
    expect(readLink(`${here.root}/folder/link`)).toEqual({ kind: 'moved' });
    expect(readContent(`${outside}/file`, 1_000)).toMatchObject({ kind: 'content' });
    expect(readLink(`${outside}/link`)).toMatchObject({ kind: 'content' });
  });

  it('never lends its content to the project, however often it is swapped back and forth', async () => {
    const foreign = [readContent(`${outside}/file`, 1_000), readLink(`${outside}/link`)].map(
      (reading) => (reading.kind === 'content' ? reading.hash : ''),
    );
    mkdirSync(`${here.root}/folder`);
    const watched = await here.watch();
    const swapper = spawn(
      process.execPath,
      ['-e', SWAP, `${here.root}/folder`, outside, `${here.root}/.agentsmithy/aside`],
      { stdio: 'inherit' },
    );
    const over = once(swapper, 'exit');
    const learned = new Set<string>();
    while (swapper.exitCode === null) {
      await watched.watcher.settle();
      for (const { hash } of watched.watcher.entries()) learned.add(hash);
    }
    await over;
    await watched.settle();
    for (const { after } of watched.changes()) if (after !== undefined) learned.add(after.hash);
    expect(foreign.filter((hash) => learned.has(hash))).toEqual([]);
    expect([...watched.state().keys()].sort()).toEqual(['folder/file', 'folder/link']);
  });
});

const SWAP = `
const fs = require('fs');
const [, folder, outside, aside] = process.argv;
for (let round = 0; round < 1000; round += 1) {
  fs.writeFileSync(folder + '/file', 'of this project ' + round);
  fs.rmSync(folder + '/link', { force: true });
  fs.symlinkSync('of this project ' + round, folder + '/link');
  fs.renameSync(folder, aside);
  fs.symlinkSync(outside, folder);
  for (let wait = round % 20; wait > 0; wait -= 1) fs.statSync(folder);
  fs.rmSync(folder);
  fs.renameSync(aside, folder);
}`;
