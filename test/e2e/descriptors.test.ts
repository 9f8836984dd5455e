import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

interface Known {
  readonly files: readonly { path: string; size: number }[];
  readonly fresh: boolean;
}

/** The soft limit alone, so that it can be raised again. */
function limitDescriptors(pid: number, soft: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);
}

function canLimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const given = canLimit() ? it : it.skip;

describe('a daemon that has no descriptor left (needs prlimit)', () => {
  given(
    'takes nothing for deleted or tracked, says so, and makes up for it afterwards',
    async () => {
      const project = newProject();
      const file = (name: string): string => join(project.root, name);
      mkdirSync(file('src'));
      for (const name of ['a', 'src/b', 'src/out']) writeFileSync(file(name), name);
      for (const name of ['.gitignore', 'src/.gitignore']) writeFileSync(file(name), 'out\n');
      const { pid } = await project.startDaemon();
      const socket = await project.socket();
      const saved = (await socket.call('snapshot_save', {})).result?.['id'];
      await socket.call('subscribe', {});
      const known = async (): Promise<Record<string, number> & { fresh: boolean }> => {
        const { result } = await socket.call('known_files', {});
        const { files, fresh } = result as unknown as Known;
        return Object.assign(Object.fromEntries(files.map(({ path, size }) => [path, size])), {
          fresh,
        });
      };
      const before = { '.gitignore': 4, 'src/.gitignore': 4, a: 1, 'src/b': 5 };
      expect(await known()).toEqual({ ...before, fresh: true });

      limitDescriptors(pid, 1);
      writeFileSync(file('a'), 'changed');
      writeFileSync(file('src/c'), 'new');
      writeFileSync(file('src/out'), 'still ignored');
      writeFileSync(file('.gitignore'), 'out\n\n');
      writeFileSync(file('src/.gitignore'), 'out\n\n');
      expect(await known()).toEqual({ ...before, fresh: false });
      const { result } = await socket.call('status');
      expect(result?.['watcher']).toMatchObject({ fresh: false, reason: 'files_limit' });
      // Git cannot be started: only who needs it is refused.
      const { error } = await socket.call('snapshot_export', { id: saved, to: file('out') });
      expect(error?.data).toMatchObject({ code: 'STORAGE_IO' });

      limitDescriptors(pid, 1024);
      const after = { '.gitignore': 5, 'src/.gitignore': 5, a: 7, 'src/b': 5, 'src/c': 3 };
      await until('everything is known again', async () => (await known()).fresh);
      expect(await known()).toEqual({ ...after, fresh: true });
      const told = socket.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
      expect(told.flatMap((event) => event['untracked'] ?? [])).toEqual([]);
      const changes = told.flatMap((event) =>
        event['type'] === 'unknown_change'
          ? (event['changes'] as { path: string; change: string }[])
          : [],
      );
      expect(changes.filter(({ change }) => change === 'deleted')).toEqual([]);
      expect(changes.map(({ path, change }) => `${change} ${path}`)).toContain('modified a');
    },
  );

  given('refuses what it cannot flush, and nothing more once there are descriptors', async () => {
    const project = newProject();
    const file = join(project.root, 'a');
    writeFileSync(file, '0');
    const { pid } = await project.startDaemon();
    const socket = await project.socket();
    const save = async (content: string) => {
      writeFileSync(file, content);
      return (await socket.call('create_checkpoint', { message: content })).error;
    };
    expect([await save('1'), await save('2')]).toEqual([undefined, undefined]);
    for (const free of [0, 1, 2]) {
      const taken = readdirSync(`/proc/${pid}/fd`).map(Number);
      const open = [...Array(taken.length + free + 1).keys()].filter((fd) => !taken.includes(fd));
      limitDescriptors(pid, Math.max(...open.slice(0, free + 1)) + 1);
      const refused = await save(`with ${free} free`);
      // Whatever could not be opened first: something of the store, or the file itself.
      if (refused !== undefined) expect(['STORAGE_IO', 'BUSY']).toContain(refused.data['code']);
      limitDescriptors(pid, 1024);
      expect(await save(`after ${free}`)).toBeUndefined();
    }
  });
});
