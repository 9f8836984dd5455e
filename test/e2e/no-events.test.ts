import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { run } from '../support/processes.js';
import type { RawSocket } from '../support/raw-socket.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

function works(program: string, ...args: string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function hasFuse(): boolean {
  try {
    closeSync(openSync('/dev/fuse', 'r+'));
    return works('bindfs', '--version');
  } catch {
    return false;
  }
}

const LIMIT = '/proc/sys/user/max_inotify_watches';
const canLimit = works('unshare', '-U', '-r', 'sh', '-c', `echo 5 > ${LIMIT}`);

interface Known {
  readonly files: readonly { path: string; size: number }[];
  readonly fresh: boolean;
}

async function known(socket: RawSocket): Promise<Known> {
  return (await socket.call('known_files', {})).result as unknown as Known;
}

async function watcherOf(socket: RawSocket): Promise<unknown> {
  return (await socket.call('status')).result?.['watcher'];
}

const paths = ({ files }: Known): string[] => files.map(({ path }) => path);

describe('a tree that lies behind a mount without events (needs bindfs)', () => {
  const given = hasFuse() ? it : it.skip;

  /** Runs with a folder and a mount of it, through which the daemon is to see it. */
  async function mounted(
    project: Project,
    place: string,
    use: (behind: string) => Promise<void>,
  ): Promise<void> {
    const behind = join(project.folder, 'behind');
    mkdirSync(behind);
    mkdirSync(place);
    execFileSync('bindfs', ['-o', 'attr_timeout=0,entry_timeout=0', behind, place]);
    try {
      await use(behind);
    } finally {
      await project.cli(['stop']);
      execFileSync('umount', ['-l', place]);
    }
  }

  given('is known exactly in every answer, and the state says why', async () => {
    const project = newProject((folder) => join(folder, 'seen'));
    await mounted(project, project.root, async (behind) => {
      writeFileSync(join(behind, 'a'), '1');
      await project.startDaemon();
      const socket = await project.socket();
      expect(paths(await known(socket))).toEqual(['a']);
      writeFileSync(join(behind, 'a'), 'changed behind the mount');
      writeFileSync(join(behind, 'b'), 'new');
      const { files } = await known(socket);
      expect(files.map(({ path, size }) => `${path} ${size}`)).toEqual(['a 24', 'b 3']);
      expect(await watcherOf(socket)).toMatchObject({ state: 'degraded', reason: 'no_events' });
    });
  });

  given('is found without being asked, also when only a part lies there', async () => {
    const project = newProject((folder) => {
      mkdirSync(join(folder, 'root'));
      return join(folder, 'root');
    });
    await mounted(project, join(project.root, 'part'), async (behind) => {
      await project.startDaemon();
      const socket = await project.socket();
      await socket.call('subscribe', {});
      writeFileSync(join(behind, 'late'), 'new');
      const event = await socket.event('unknown_change');
      expect(event).toMatchObject({ origin: 'scan', changes: [{ path: 'part/late' }] });
    });
  });
});

describe('a daemon whose watches have run out (needs user namespaces)', () => {
  (canLimit ? it : it.skip)('75: misses nothing, says so, and names the way out', async () => {
    const project = newProject();
    for (let folder = 0; folder < 20; folder++) {
      mkdirSync(join(project.root, `d${folder}/deep`), { recursive: true });
      writeFileSync(join(project.root, `d${folder}/deep/file`), '1');
    }
    const script = `echo 8 > ${LIMIT} && exec "$@"`;
    const command = ['unshare', '-U', '-r', 'sh', '-c', script, 'sh', process.execPath];
    const cli = new URL('../../dist/cli/main.js', import.meta.url).pathname;
    const { code, stderr } = await run([...command, cli, '--root', project.root, 'start']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const socket = await project.socket();
    await socket.call('subscribe', {});
    expect(await watcherOf(socket)).toMatchObject({ state: 'degraded', reason: 'watch_limit' });
    for (let folder = 0; folder < 20; folder++) {
      writeFileSync(join(project.root, `d${folder}/deep/file`), 'changed');
      writeFileSync(join(project.root, `d${folder}/new`), 'new');
    }
    rmSync(join(project.root, 'd7/deep'), { recursive: true });
    const { files } = await known(socket);
    expect(files).toHaveLength(39);
    expect(files.filter(({ path, size }) => path.endsWith('/file') && size !== 7)).toEqual([]);
    writeFileSync(join(project.root, 'd19/deep/unasked'), 'x');
    await until('a scan finds what nobody asks about', () =>
      socket.received.some(({ text }) => text.includes('d19/deep/unasked')),
    );
  });
});
