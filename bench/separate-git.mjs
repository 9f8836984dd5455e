/**
 * What other tools do: a git folder beside the project, told to take everything in. git's own
 * defaults, so nothing is flushed.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';

export const GIT = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
export const env = {
  PATH: process.env.PATH,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

/**
 * The same by simple-git, with its defaults: what Cline, Roo and Gemini CLI really run. The git folder
 * has the project for its work tree.
 */
export function createShadow(folder, project) {
  const shadow = join(folder, 'shadow');
  mkdirSync(shadow);
  const git = (...args) => execFileSync(GIT, args, { env, cwd: shadow, stdio: 'ignore' });
  git('init', '-q');
  const settings = { 'core.worktree': project, 'user.name': 'b', 'user.email': 'b' };
  for (const [name, value] of Object.entries(settings)) git('config', name, value);
  // As below: its packing is done when nothing is measured.
  git('config', 'maintenance.auto', 'false');
  const shadowGit = simpleGit(shadow);
  return {
    async addAndCommit() {
      await shadowGit.add(['-A', '.']);
      await shadowGit.commit('checkpoint', { '--allow-empty': null });
    },
    tidy: () => git('-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet'),
  };
}

export function createSeparateGit(folder, name, project) {
  const who = ['-c', 'user.name=b', '-c', 'user.email=b'];
  const place = [`--git-dir=${join(folder, `${name}.git`)}`, `--work-tree=${project}`];
  const git = (...args) =>
    execFileSync(GIT, [...who, ...place, ...args], {
      env,
      cwd: project,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 30,
    }).trim();
  git('init', '-q');
  let tip;
  return {
    git,
    addAndCommit() {
      git('add', '-A');
      git('-c', 'maintenance.auto=false', 'commit', '-qm', 'checkpoint', '--allow-empty');
    },
    /**
     * What `commit` would leave running behind: from some 6,700 new objects on it packs them with all
     * processors, for 20 s and more after a first commit of 100,000 files, and whatever is measured
     * next would pay for it. To be called when nothing is measured.
     */
    tidy() {
      git('-c', 'gc.autoDetach=false', 'gc', '--auto', '--quiet');
    },
    writeTree() {
      git('add', '-A');
      const tree = git('write-tree');
      const parent = tip === undefined ? [] : ['-p', tip];
      tip = git('commit-tree', tree, ...parent, '-m', 'checkpoint');
      git('update-ref', 'refs/heads/checkpoints', tip);
    },
    head: () => git('rev-parse', 'HEAD'),
  };
}
