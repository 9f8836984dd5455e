import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { path, project, type Project } from '../support/project.js';

describe('files out of the ordinary', () => {
  let here: Project;
  const file = (name: string): string => `${here.root}/${name}`;
  const idOf = (name: string): string =>
    execFileSync('git', ['hash-object', '--no-filters', file(name)], { encoding: 'utf8' }).trim();

  beforeEach(() => {
    here = project();
  });
  afterEach(() => here.end());

  it('are listed when they are pipes or sockets, and never opened', async () => {
    makePipe(file('pipe'));
    const server = createServer().listen(file('socket'));
    await once(server, 'listening');
    const watched = await here.watch();
    makePipe(file('later'));
    await watched.settle();
    expect(watched.watcher.skipped().sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'later', reason: 'special' },
      { path: 'pipe', reason: 'special' },
      { path: 'socket', reason: 'special' },
    ]);
    rmSync(file('later'));
    writeFileSync(file('later'), 'now a file');
    await watched.settle();
    expect(watched.watcher.get(path('later'))?.hash).toBe(idOf('later'));
    expect(watched.watcher.health().skipped).toBe(2);
    server.close();
  });

  it('are known again when a pipe took their place and left', async () => {
    writeFileSync(file('a'), '1');
    const watched = await here.watch();
    rmSync(file('a'));
    makePipe(file('a'));
    await watched.settle();
    expect(watched.changes().map(({ change }) => change)).toEqual(['deleted']);
  });

  it('are skipped by name when too large, without being called deleted', async () => {
    writeFileSync(file('grows'), 'small');
    writeFileSync(file('sparse'), '');
    truncateSync(file('sparse'), 5e9);
    const watched = await here.watch();
    writeFileSync(file('grows'), 'x'.repeat(1_000_001));
    await watched.settle();
    expect(watched.watcher.get(path('grows'))).toBeUndefined();
    expect(watched.batches).toEqual([{ changes: [], untracked: ['grows'], more: false }]);
    expect(
      watched.watcher
        .skipped()
        .map(({ path: at, reason }) => `${at} ${reason}`)
        .sort(),
    ).toEqual(['grows too_large', 'sparse too_large']);
    writeFileSync(file('grows'), 'small again');
    await watched.settle();
    expect(watched.watcher.get(path('grows'))?.hash).toBe(idOf('grows'));
  });

  it('are refused by name when the name is no UTF-8, and the rest is known', async () => {
    writeFileSync(
      Buffer.concat([Buffer.from(`${here.root}/bad-`), Buffer.from([0xff, 0xfe])]),
      'x',
    );
    writeFileSync(file('\uFFFD'), 'a legal name');
    const watched = await here.watch();
    writeFileSync(Buffer.concat([Buffer.from(`${here.root}/`), Buffer.from([0xe9])]), 'x');
    await watched.settle();
    expect([...watched.state().keys()]).toEqual(['\uFFFD']);
    expect(
      watched.watcher
        .skipped()
        .map(({ path: at, reason }) => `${at} ${reason}`)
        .sort(),
    ).toEqual(['\\xe9 not_utf8', 'bad-\\xff\\xfe not_utf8']);
  });

  it('are both kept when names differ in composition, case or odd characters only', async () => {
    const names = [
      'é',
      'e\u0301',
      'Readme',
      'README',
      '-rf',
      ' lead',
      'trail ',
      'new\nline',
      '"q"',
      'b\\s',
    ];
    for (const name of [...names, 'n'.repeat(255)]) writeFileSync(file(name), name);
    const watched = await here.watch();
    expect([...watched.state().keys()].sort()).toEqual([...names, 'n'.repeat(255)].sort());
  });

  it('are followed through every other name they have', async () => {
    mkdirSync(file('.agentsmithy/elsewhere'));
    writeFileSync(file('a'), '1');
    linkSync(file('a'), file('b'));
    linkSync(file('a'), file('.agentsmithy/elsewhere/c'));
    const watched = await here.watch();
    writeFileSync(file('.agentsmithy/elsewhere/c'), 'through an outside name');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('a'));
    expect(watched.watcher.get(path('b'))?.hash).toBe(idOf('a'));
  });

  it('are followed through a name they get later', async () => {
    writeFileSync(file('a'), '1');
    const watched = await here.watch();
    linkSync(file('a'), file('b'));
    writeFileSync(file('b'), 'through the new name');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('b'));
    writeFileSync(file('b'), 'and once more');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('b'));
  });

  it('are followed when written by somebody who opened them under a name since removed', async () => {
    writeFileSync(file('a'), '1');
    linkSync(file('a'), file('b'));
    const watched = await here.watch();
    await watched.settle();
    const open = openSync(file('b'), 'r+');
    try {
      rmSync(file('b'));
      await watched.settle();
      expect([...watched.state().keys()]).toEqual(['a']);
      // The kernel reports this under the name it was opened by, which is gone.
      writeSync(open, 'written late');
      await watched.settle();
      expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('a'));
    } finally {
      closeSync(open);
    }
  });

  it('are followed through a name that the rules leave out', async () => {
    writeFileSync(file('.gitignore'), 'ignored\n');
    writeFileSync(file('a'), '1');
    const watched = await here.watch();
    await watched.settle();
    linkSync(file('a'), file('ignored'));
    writeFileSync(file('ignored'), 'through a name nobody tracks');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('a'));
    writeFileSync(file('ignored'), 'and once more');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.hash).toBe(idOf('a'));
    expect([...watched.state().keys()]).toEqual(['.gitignore', 'a']);
  });

  it('keep their last known content while they cannot be read', async () => {
    mkdirSync(file('closed'));
    for (const name of ['secret', 'closed/inner']) writeFileSync(file(name), name);
    await asNobody(here.root, async () => {
      const watched = await here.watch();
      const known = watched.state();
      chmodSync(file('secret'), 0);
      chmodSync(file('closed'), 0);
      await watched.settle();
      await watched.watcher.rescan();
      expect(watched.state()).toEqual(known);
      expect(watched.batches).toEqual([]);
      const skipped = watched.watcher.skipped().map(({ path: at }) => at);
      expect(skipped).toContain('secret');
      expect(skipped).toContain('closed');
      chmodSync(file('secret'), 0o644);
      chmodSync(file('closed'), 0o755);
      await watched.settle();
      expect(watched.watcher.skipped()).toEqual([]);
      await watched.watcher.stop();
    });
  });

  it('do not hold up a barrier while somebody writes them without pause', async () => {
    const watched = await here.watch();
    const writer = spawn(process.execPath, [
      '-e',
      `const fs=require('fs');const fd=fs.openSync(${JSON.stringify(file('log'))},'a');
       console.log('going');for(let i=0;i<400000;i++)fs.writeSync(fd,'line\\n');`,
    ]);
    await once(writer.stdout, 'data');
    const over = once(writer, 'exit');
    let settled = 0;
    while (writer.exitCode === null) {
      await watched.watcher.settle();
      settled += 1;
    }
    await over;
    expect(settled).toBeGreaterThan(0);
    // Too large by now for this configuration, or known: but never a torn content.
    await watched.settle();
    const entry = watched.watcher.get(path('log'));
    if (entry !== undefined) expect(entry.hash).toBe(idOf('log'));
  });
});

describe('folders that are projects of their own', () => {
  it('are left out with everything in them when they have a daemon state', async () => {
    const here = project();
    try {
      mkdirSync(`${here.root}/inner/.agentsmithy`, { recursive: true });
      writeFileSync(`${here.root}/inner/file`, '1');
      mkdirSync(`${here.root}/other`);
      writeFileSync(`${here.root}/other/file`, '1');
      const watched = await here.watch();
      expect([...watched.state().keys()]).toEqual(['other/file']);
      expect(watched.watcher.health().nestedRoots).toEqual(['inner']);
      mkdirSync(`${here.root}/other/.agentsmithy`);
      await watched.settle();
      expect(watched.state().size).toBe(0);
      expect(watched.batches).toEqual([{ changes: [], untracked: ['other/file'], more: false }]);
      rmSync(`${here.root}/inner/.agentsmithy`, { recursive: true });
      await watched.settle();
      expect([...watched.state().keys()]).toEqual(['inner/file']);
      rmSync(`${here.root}/other`, { recursive: true });
      await watched.settle();
      expect(watched.watcher.health().nestedRoots).toEqual([]);
    } finally {
      await here.end();
    }
  });

  it('are content like any other when they are git repositories, but for their .git', async () => {
    const here = project();
    try {
      execFileSync('git', ['init', '-q', `${here.root}/lib`]);
      writeFileSync(`${here.root}/lib/file`, '1');
      const watched = await here.watch();
      expect([...watched.state().keys()]).toEqual(['lib/file']);
      expect(watched.watcher.health().nestedRepositories).toEqual(['lib']);
      rmSync(`${here.root}/lib/.git`, { recursive: true });
      await watched.settle();
      expect(watched.watcher.health().nestedRepositories).toEqual([]);
    } finally {
      await here.end();
    }
  });
});

function makePipe(at: string): void {
  execFileSync('sh', ['-c', 'mkfifo "$0"', at]);
}

/** Root may read everything: give that up for a while. */
async function asNobody(root: string, run: () => Promise<void>): Promise<void> {
  if (process.geteuid?.() !== 0) {
    await run();
    return;
  }
  for (const name of ['', '/.agentsmithy', '/secret', '/closed', '/closed/inner']) {
    chownSync(`${root}${name}`, 65_534, 65_534);
  }
  process.seteuid?.(65_534);
  try {
    await run();
  } finally {
    process.seteuid?.(0);
  }
}
