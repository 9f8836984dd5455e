import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileSide } from '../../src/core/text-diff.js';

/** A scratch repository in which the real git says what it thinks. */
export interface GitScratch {
  readonly root: string;
  git(args: readonly string[], input?: Uint8Array): { status: number; out: string; err: string };
  write(path: string, side: FileSide): void;
  /** `mode:hex bytes`, or `absent`. */
  read(path: string): string;
  end(): void;
}

export function gitScratch(): GitScratch {
  const root = mkdtempSync(join(tmpdir(), 'smithyd-diff-'));
  const git: GitScratch['git'] = (args, input) => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: root,
      ...(input === undefined ? {} : { input }),
      maxBuffer: 64 * 1024 * 1024,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: root,
        LC_ALL: 'C.UTF-8',
        GIT_CONFIG_NOSYSTEM: '1',
      },
    });
    return { status: status ?? -1, out: stdout.toString('utf8'), err: stderr.toString('utf8') };
  };
  const made = git(['init', '--quiet']);
  if (made.status !== 0) throw new Error(made.err);
  return {
    root,
    git,
    write(path, { mode, content }) {
      const file = join(root, path);
      mkdirSync(dirname(file), { recursive: true });
      if (mode === '120000') symlinkSync(Buffer.from(content ?? []), file);
      else writeFileSync(file, content ?? '');
      if (mode !== '120000') chmodSync(file, mode === '100755' ? 0o755 : 0o644);
    },
    read(path) {
      const file = join(root, path);
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat === undefined) return 'absent';
      if (stat.isSymbolicLink()) return `120000:${readlinkSync(file, 'hex')}`;
      const mode = (stat.mode & 0o100) === 0 ? '100644' : '100755';
      return `${mode}:${readFileSync(file).toString('hex')}`;
    },
    end: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What `read` answers for a side that is as it should be. */
export function expected(side: FileSide | null): string {
  return side === null
    ? 'absent'
    : `${side.mode}:${Buffer.from(side.content ?? []).toString('hex')}`;
}
