import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach } from '@jest/globals';
import { plainEnvironment } from './processes.js';
import { REPOSITORY, type DaemonInfo, type Project } from './daemon-project.js';
import { soon } from './until.js';

export interface Limits {
  readonly maxFrameBytes?: number;
  readonly partialFrameMs?: number;
  readonly idleMs?: number;
  readonly inFlight?: number;
  readonly unsentBytes?: number;
}

/** Starts daemons through the library, in a process of their own, with limits a test can reach. */
export function embeddedDaemons(): (project: Project, limits: Limits) => Promise<DaemonInfo> {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await soon('the end of an embedded daemon', ended);
    }
  });
  return async (project, limits) => {
    const script = join(REPOSITORY, 'test/fixtures/embedded-daemon.mjs');
    const child = spawn(process.execPath, [script, project.root, JSON.stringify(limits)], {
      env: plainEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    const [line] = (await soon(
      'an embedded daemon',
      once(createInterface(child.stdout), 'line'),
    )) as [string];
    return JSON.parse(line) as DaemonInfo;
  };
}
