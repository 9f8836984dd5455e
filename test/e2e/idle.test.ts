import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';

const newProject = projectsPerTest();

/** Processor time of a process in ticks of, as a rule, 10 ms. */
function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

describe('a daemon that nobody calls', () => {
  // The one test that has to wait: what is to be seen is that nothing happens for ten seconds.
  it('uses no processor time', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    // The first second belongs to the start: compilers and collectors finish their work.
    for (let last = -1; last !== ticks(pid);) {
      last = ticks(pid);
      await pause(1000);
    }
    const before = ticks(pid);
    await pause(10_000);
    expect(ticks(pid) - before).toBeLessThanOrEqual(2);
  });
});
