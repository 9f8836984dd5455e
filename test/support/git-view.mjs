/** The project as plain git sees it, with our rules: a repository and an index to be thrown away. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FIXED_EXCLUSIONS } from '../../dist/core/tracking.js';

const RULES = [...FIXED_EXCLUSIONS, '.*', '!.gitignore', '!.gitattributes', '!.github'];

export function git(folder, args, env = {}) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      LC_ALL: 'C.UTF-8',
      ...env,
    },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

export function createGitView(root) {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-view-'));
  git(folder, ['init', '-q', '--bare', '.']);
  mkdirSync(join(folder, 'info'), { recursive: true });
  writeFileSync(join(folder, 'info/exclude'), `${RULES.join('\n')}\n`);
  writeFileSync(join(folder, 'info/attributes'), '* -text -ident -filter -working-tree-encoding\n');
  const here = [`--git-dir=${folder}`, `--work-tree=${root}`, '-c', 'core.autocrlf=false'];
  return {
    /** The tree that `git add -A` makes of the folder now, and path -> blob id. */
    look() {
      // An old index would keep what has become ignored.
      rmSync(join(folder, 'index'), { force: true });
      git(root, [...here, 'add', '-A']);
      const tree = git(root, [...here, 'write-tree']).trim();
      const lines = git(root, [...here, 'ls-files', '-s', '-z'])
        .split('\0')
        .filter(Boolean);
      const blobs = lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(7, 47)]);
      return { tree, blobs: new Map(blobs) };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
