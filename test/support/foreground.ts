import { afterEach } from '@jest/globals';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, temporaryFolder } from './daemon-project.js';
import { startDaemon, type Connection, type Daemon } from './daemon-process.mjs';
import { plainEnvironment } from './processes.js';

/** A project with a daemon in the foreground that can be stopped, killed and started again. */
export interface Foreground {
  readonly root: string;
  /** A folder outside the project, on the same disk. */
  readonly outside: string;
  readonly open: () => Promise<Connection>;
  readonly restart: (signal: NodeJS.Signals) => Promise<void>;
}

export const ON_BUILT_FILES = { cli: CLI, env: plainEnvironment() };

/** Gives each test its own, and takes it away after it. */
export function foregroundPerTest(): (prepare?: (root: string) => void) => Promise<Foreground> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });
  return async (prepare = () => undefined) => {
    const folder = temporaryFolder();
    const [root, outside] = [join(folder, 'project'), join(folder, 'outside')];
    mkdirSync(root);
    mkdirSync(outside);
    prepare(root);
    const begin = (): Promise<Daemon> => startDaemon({ root, ...ON_BUILT_FILES });
    let daemon = await begin();
    ends.push(async () => {
      await daemon.stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });
    return {
      root,
      outside,
      open: () => daemon.open(),
      async restart(signal) {
        await daemon.stop(signal);
        daemon = await begin();
      },
    };
  };
}
