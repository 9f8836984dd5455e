import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { path, project, type Project } from '../support/project.js';

describe('a barrier', () => {
  let here: Project;
  const file = (name: string): string => `${here.root}/${name}`;

  beforeEach(() => {
    here = project();
  });
  afterEach(() => here.end());

  it('includes every change that another process finished before it', async () => {
    const watched = await here.watch();
    // Writes a file, says so, and goes on at once: each word was true before it was read here.
    const writer = spawn(process.execPath, [
      '-e',
      `const fs=require('fs');for(let i=0;i<600;i++){const d=${JSON.stringify(here.root)}+'/d'+i%20;
       fs.mkdirSync(d,{recursive:true});fs.writeFileSync(d+'/f'+i,'x'+i);
       fs.writeSync(1,'d'+i%20+'/f'+i+'\\n');}`,
    ]);
    let checked = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      await watched.settle();
      expect(watched.watcher.get(path(line))?.path).toBe(line);
      checked += 1;
    }
    expect(checked).toBe(600);
  });

  it('is shared by those who ask at the same time', async () => {
    const watched = await here.watch();
    writeFileSync(file('a'), '1');
    const answers = await Promise.all(Array.from({ length: 500 }, () => watched.watcher.settle()));
    expect(answers.every(({ fresh }) => fresh)).toBe(true);
    expect(watched.watcher.get(path('a'))?.size).toBe(1);
  });

  it('leaves the event loop its turns, however often it is asked', async () => {
    const watched = await here.watch();
    const over = AbortSignal.timeout(20);
    let rounds = 0;
    while (!over.aborted) {
      await watched.settle();
      rounds += 1;
    }
    expect(rounds).toBeGreaterThan(0);
  });

  it("stays out of the user's git status", async () => {
    execFileSync('git', ['init', '-q', here.root]);
    const watched = await here.watch();
    const statuses: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const settled = watched.settle();
      statuses.push(
        execFileSync('git', ['-C', here.root, 'status', '--porcelain'], { encoding: 'utf8' }),
      );
      await settled;
    }
    expect(statuses.join('')).toBe('');
  });

  it('scans when its cookie does not come back, and says so', async () => {
    const watched = await here.watch({ timing: { cookieMs: 50 } });
    await watched.settle();
    rmSync(file('.agentsmithy/run'), { recursive: true });
    writeFileSync(file('.agentsmithy/run'), 'in the way');
    writeFileSync(file('a'), '1');
    await watched.settle();
    expect(watched.watcher.get(path('a'))?.size).toBe(1);
    expect(watched.notices).toEqual([
      { type: 'watch_desynced', reason: 'barrier_timeout' },
      { type: 'watch_resynced', reason: 'barrier_timeout' },
    ]);
    rmSync(file('.agentsmithy/run'));
    await watched.settle();
    expect(existsSync(file('.agentsmithy/run/settle'))).toBe(true);
  });

  it('is reached by scans alone, too, by all who ask one after the other', async () => {
    for (let at = 0; at < 50; at++) mkdirSync(file(`d${at}`));
    const watched = await here.watch({ timing: { cookieMs: 50 } });
    await watched.settle();
    rmSync(file('.agentsmithy/run'), { recursive: true });
    writeFileSync(file('.agentsmithy/run'), 'in the way');
    const asked: Promise<readonly [fresh: boolean, size: number | undefined]>[] = [];
    for (let at = 0; at < 50; at++) {
      writeFileSync(file(`d${at}/f`), 'x'.repeat(at + 1));
      const answer = watched.watcher.settle();
      asked.push(
        answer.then(({ fresh }) => [fresh, watched.watcher.get(path(`d${at}/f`))?.size] as const),
      );
      await nextTurn();
    }
    expect(await Promise.all(asked)).toEqual(asked.map((_, at) => [true, at + 1]));
    expect(watched.watcher.health()).toMatchObject({ fresh: true });
    rmSync(file('.agentsmithy/run'));
  });

  it('leaves one cookie at most, and none after a stop', async () => {
    const watched = await here.watch();
    for (let round = 0; round < 10; round += 1) await watched.settle();
    expect(readdirSync(file('.agentsmithy/run/settle'))).toHaveLength(1);
    await watched.watcher.stop();
    expect(readdirSync(file('.agentsmithy/run/settle'))).toEqual([]);
  });

  it('gives up when watching ends', async () => {
    const watched = await here.watch();
    const during = watched.watcher.settle();
    const end = watched.watcher.stop();
    expect(await during).toEqual({ fresh: false });
    await end;
    expect(await watched.watcher.settle()).toEqual({ fresh: false });
  });

  it('is reached while two processes write without any pause', async () => {
    mkdirSync(file('x'));
    const watched = await here.watch();
    const writers = [1, 2].map((number) =>
      spawn(process.execPath, [
        '-e',
        `const fs=require('fs');const fd=fs.openSync(${JSON.stringify(file('x'))}+'/'+${number},'w');
         console.log('going');for(let i=0;i<300000;i++)fs.writeSync(fd,'y'+i%9,0);`,
      ]),
    );
    const over = writers.map((writer) => once(writer, 'exit'));
    await Promise.all(writers.map((writer) => once(writer.stdout, 'data')));
    writeFileSync(file('quiet'), '1');
    await watched.watcher.settle();
    expect(watched.watcher.get(path('quiet'))?.size).toBe(1);
    await Promise.all(over);
    await watched.settle();
    for (const number of [1, 2]) {
      const id = execFileSync('git', ['hash-object', file(`x/${number}`)], { encoding: 'utf8' });
      expect(watched.watcher.get(path(`x/${number}`))?.hash).toBe(id.trim());
    }
  });
});
