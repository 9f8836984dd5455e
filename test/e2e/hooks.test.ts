import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { CLI, projectsPerTest, REPOSITORY, type Project } from '../support/daemon-project.js';
import { run, signal } from '../support/processes.js';
import { Repository } from '../support/repository.js';
import type { Changes } from '../support/s0-scenarios.js';
import { until } from '../support/until.js';
import { Work, type Listed } from '../support/work.js';

const newProject = projectsPerTest();
// A hook gives up after 300 ms, and on a machine that is busy with other tests that may be right.
jest.retryTimes(2, { logErrorsBeforeRetry: true });

interface Marked {
  readonly name: string;
  readonly checkpoint: string;
}

interface Report {
  readonly folder: string;
  readonly belongs: string;
  readonly hooks: readonly { name: string; state: string; chained: boolean }[];
}

async function hooks(folder: string, verb: string): Promise<Report> {
  const { code, stdout, stderr } = await run([process.execPath, CLI, '--json', 'hooks', verb], {
    cwd: folder,
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Report;
}

const states = ({ hooks: all }: Report): string[] => all.map(({ state }) => state);
const EACH = (state: string): string[] => [state, state, state, state];

async function preCommits(work: Work): Promise<readonly Listed[]> {
  const all = await work.log({ limit: 1000 });
  return all.filter(({ kind }) => kind === 'pre_commit');
}

/** A project with a daemon, a repository and our hooks in it. */
async function begin(prepare: (repository: Repository) => Promise<void> | void = () => undefined) {
  const project = newProject();
  const repository = await Repository.make(project.root);
  await prepare(repository);
  const report = await hooks(project.root, 'install');
  const work = await Work.start(project);
  return { project, repository, work, report };
}

describe('the hook before a commit', () => {
  it('saves the project as it is before the commit', async () => {
    const { repository, work } = await begin();
    repository.write('not-added.txt', 'but saved');
    await repository.commit('one');
    const [saved] = await preCommits(work);
    expect(saved).toMatchObject({ kind: 'pre_commit', message: 'Before commit' });
    expect(Object.keys(await work.tree(saved?.commit_id ?? ''))).toEqual([
      'a.txt',
      'not-added.txt',
    ]);
  });

  it('sets the mark pre_commit, which moves with the next one', async () => {
    const { repository, work } = await begin();
    const marked = async () => {
      const { marks } = await work.call<{ marks: Marked[] }>('list_marks');
      return marks.filter(({ name }) => name === 'pre_commit').map(({ checkpoint }) => checkpoint);
    };
    for (const content of ['one', 'two']) {
      await repository.commit(content);
      const [saved] = await preCommits(work);
      expect(await marked()).toEqual([saved?.commit_id]);
    }
    const { files } = await work.call<Changes>('get_changes_since', { checkpoint: 'pre_commit' });
    expect(files?.total_new).toBe(0);
  });

  it('saves before every commit, also with -a, of a part, amended and empty', async () => {
    const { repository, work } = await begin();
    await repository.commit('one');
    repository.write('a.txt', 'two');
    await repository.git(['commit', '-qam', 'two']);
    repository.write('a.txt', 'three');
    await repository.git(['commit', '-qm', 'three', 'a.txt']);
    await repository.git(['commit', '-q', '--amend', '-m', 'again']);
    await repository.git(['commit', '-q', '--allow-empty', '-m', 'nothing']);
    expect(await preCommits(work)).toHaveLength(5);
  });

  it('hears nothing of GIT_* and NODE_*', async () => {
    const { repository, work } = await begin();
    const env = { NODE_OPTIONS: '--require /nowhere', GIT_NAMESPACE: 'x', GIT_TRACE: '0' };
    await repository.commit('one', { env });
    expect(await preCommits(work)).toHaveLength(1);
  });

  it('of thirty commits in a row misses none', async () => {
    const script = join(REPOSITORY, 'scripts/many-commits.mjs');
    const { code, stdout, stderr } = await run([process.execPath, script, '30']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('30 commits made 30 checkpoints');
  });
});

describe('operations of git', () => {
  it('are told with what they did', async () => {
    const { repository, work } = await begin();
    await repository.commit('one');
    await repository.git(['checkout', '-qb', 'other']);
    await repository.commit('two');
    const two = (await repository.git(['rev-parse', 'HEAD'])).trim();
    const listener = await work.project.socket();
    await listener.call('subscribe', { types: ['git_operation'] });
    await repository.git(['checkout', '-q', 'main']);
    expect(await listener.event('git_operation')).toMatchObject({ what: 'checkout', from: two });
    const told = (what: string) =>
      until(`${what} is told`, () =>
        listener.received.some(({ event }) => event?.['what'] === what),
      );
    await repository.git(['merge', '-q', 'other']);
    await told('merge');
    await repository.git(['commit', '-q', '--amend', '-m', 'again']);
    await told('amend');
  });

  it('are refused when they are no such thing', async () => {
    const work = await Work.start(newProject());
    expect(await work.call('git_operation', { what: 'merge' })).toEqual({ fresh: true });
    expect(await work.refusal('git_operation', { what: 'war' })).toMatchObject({
      data: { code: 'INVALID_PARAMS' },
    });
  });
});

const NOTES = `#!/bin/sh
{ echo "$0 $*"; cat; } >>"$PWD/.git/notes"
exit 0
`;

describe('a hook that was there before', () => {
  it('runs afterwards with its name, arguments and input', async () => {
    const { repository, report } = await begin(async (it) => {
      await it.commit('one');
      for (const name of ['post-rewrite', 'post-checkout'])
        it.write(`.git/hooks/${name}`, NOTES, 0o755);
    });
    expect(report.hooks.map(({ chained }) => chained)).toEqual([false, true, false, true]);
    const one = (await repository.git(['rev-parse', 'HEAD'])).trim();
    await repository.git(['commit', '-q', '--amend', '-m', 'again']);
    const two = (await repository.git(['rev-parse', 'HEAD'])).trim();
    await repository.git(['checkout', '-qb', 'other']);
    expect(readFileSync(repository.at('.git/notes'), 'utf8')).toBe(
      `.git/hooks/post-rewrite amend\n${one} ${two}\n.git/hooks/post-checkout ${two} ${two} 1\n`,
    );
  });

  it.each([
    ['a shell script', '#!/bin/sh -e\nfalse\nexit 0\n'],
    ['a script of another language', `#!${process.execPath}\nprocess.exit(1)\n`],
  ])('that fails, as %s, keeps the commit from being made', async (_, text) => {
    const { repository, work } = await begin((it) =>
      it.write('.git/hooks/pre-commit', text, 0o755),
    );
    repository.write('a.txt', 'one');
    await repository.git(['add', 'a.txt']);
    expect((await repository.try(['commit', '-qm', 'one'])).code).toBe(1);
    expect(await preCommits(work)).toHaveLength(1);
  });

  it('is not run when git would not have run it', async () => {
    const { repository } = await begin((it) =>
      it.write('.git/hooks/pre-commit', 'exit 1\n', 0o644),
    );
    await repository.commit('one');
  });
});

/** What husky 9 has in `.husky/_/h`: it finds the project's own hook by the name it was called by. */
const HUSKY_9 = `#!/usr/bin/env sh
n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
exit $?
`;
/** What husky 8 has in \`.husky/_/husky.sh\`: it runs the hook once more from inside itself. */
const HUSKY_8 = `if [ -z "$husky_skip_init" ]; then
  readonly hook_name="$(basename -- "$0")"
  readonly husky_skip_init=1
  export husky_skip_init
  sh -e "$0" "$@"
  exit $?
fi
`;
const LEFTHOOK = `#!/bin/sh
if [ "$LEFTHOOK" = "0" ]; then exit 0; fi
call_lefthook() { echo "lefthook $*" >>"$(git rev-parse --git-dir)/ran"; }
call_lefthook run "pre-commit" "$@"
`;
const RAN = 'echo "$0" >>.git/ran\n';

const LAYOUTS: Readonly<Record<string, { set(it: Repository): Promise<void>; ran: string }>> = {
  'husky 9': {
    async set(it) {
      it.write('.husky/_/h', HUSKY_9, 0o755);
      it.write('.husky/_/pre-commit', '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n', 0o755);
      it.write('.husky/pre-commit', RAN);
      await it.git(['config', 'core.hooksPath', '.husky/_']);
    },
    ran: '.husky/pre-commit\n',
  },
  'husky 8': {
    async set(it) {
      it.write('.husky/_/husky.sh', HUSKY_8);
      const text = `#!/usr/bin/env sh\n. "$(dirname -- "$0")/_/husky.sh"\n\n${RAN}`;
      it.write('.husky/pre-commit', text, 0o755);
      await it.git(['config', 'core.hooksPath', '.husky']);
    },
    ran: '.husky/pre-commit\n',
  },
  lefthook: {
    async set(it) {
      it.write('.git/hooks/pre-commit', LEFTHOOK, 0o755);
      await Promise.resolve();
    },
    ran: 'lefthook run pre-commit\n',
  },
  'core.hooksPath with nothing in it': {
    async set(it) {
      await it.git(['config', 'core.hooksPath', it.at('elsewhere/hooks')]);
    },
    ran: '',
  },
};

describe('layouts', () => {
  it.each(Object.entries(LAYOUTS))(
    '%s: one checkpoint, and its own hook once',
    async (_, layout) => {
      const { repository, work } = await begin((it) => layout.set(it));
      await repository.commit('one');
      expect(await preCommits(work)).toHaveLength(1);
      const ran = repository.at('.git/ran');
      expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe(layout.ran);
    },
  );

  it('a linked worktree uses the hooks of the repository and its own daemon', async () => {
    const project = newProject((folder) => join(folder, 'linked'));
    mkdirSync(join(project.folder, 'main'));
    const main = await Repository.make(join(project.folder, 'main'));
    await main.commit('one');
    await main.git(['worktree', 'add', '-q', project.root]);
    const linked = new Repository(project.root);
    const { folder } = await hooks(project.root, 'install');
    expect(folder).toBe(main.at('.git/hooks'));
    const work = await Work.start(project);
    await linked.commit('two');
    expect(await preCommits(work)).toHaveLength(1);
    await main.commit('without a daemon');
    expect(await preCommits(work)).toHaveLength(1);
  });

  it('a submodule has hooks of its own and the daemon of the project around it', async () => {
    const project = newProject((folder) => join(folder, 'project'));
    mkdirSync(project.root);
    mkdirSync(join(project.folder, 'part'));
    await (await Repository.make(join(project.folder, 'part'))).commit('one');
    const outer = await Repository.make(project.root);
    const here = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    await outer.git([...here, join(project.folder, 'part'), 'part']);
    const { folder } = await hooks(outer.at('part'), 'install');
    expect(folder).toBe(outer.at('.git/modules/part/hooks'));
    const work = await Work.start(project);
    await new Repository(outer.at('part')).commit('two');
    const [saved] = await preCommits(work);
    expect(await work.tree(saved?.commit_id ?? '')).toHaveProperty(['part/a.txt']);
  });
});

describe('taking the hooks out', () => {
  it('leaves every byte, mode and link as it was', async () => {
    const repository = await Repository.make(newProject().root);
    repository.write('.git/hooks/pre-commit', '#!/bin/sh\nexit 0\n', 0o755);
    repository.write('.git/hooks/post-merge', 'not a program \u0000\n', 0o640);
    symlinkSync('../../scripts/rewritten', repository.at('.git/hooks/post-rewrite'));
    const before = repository.files('.git/hooks');
    const config = readFileSync(repository.at('.git/config'), 'utf8');
    expect(states(await hooks(repository.folder, 'status'))).toEqual(EACH('missing'));
    expect(states(await hooks(repository.folder, 'install'))).toEqual(EACH('installed'));
    expect(states(await hooks(repository.folder, 'install'))).toEqual(EACH('installed'));
    expect(repository.files('.git/hooks')).not.toEqual(before);
    expect(states(await hooks(repository.folder, 'uninstall'))).toEqual(EACH('missing'));
    expect(repository.files('.git/hooks')).toEqual(before);
    expect(readFileSync(repository.at('.git/config'), 'utf8')).toBe(config);
  });

  it('does not touch what another tool has put there since; installing puts ours before it', async () => {
    const repository = await Repository.make(newProject().root);
    const hook = '.git/hooks/pre-commit';
    repository.write(hook, '#!/bin/sh\n# first\n', 0o755);
    await hooks(repository.folder, 'install');
    repository.write(hook, '#!/bin/sh\n# second\n', 0o755);
    expect(states(await hooks(repository.folder, 'status'))[0]).toBe('replaced');
    await hooks(repository.folder, 'uninstall');
    expect(readFileSync(repository.at(hook), 'utf8')).toContain('second');
    expect(states(await hooks(repository.folder, 'install'))).toEqual(EACH('installed'));
    const { [`pre-commit.before-smithyd`]: kept } = repository.files('.git/hooks');
    expect(kept).toContain('second');
    expect(repository.files('.git/hooks')['pre-commit.before-smithyd-1']).toContain('first');
  });

  it('outside of a repository says so', async () => {
    const { code, stderr } = await run([process.execPath, CLI, 'hooks', 'install'], {
      cwd: newProject().root,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('is not in a git repository');
  });
});

/** How long a commit takes at best, in a few. */
async function best(repository: Repository, options: readonly string[] = []): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const begun = performance.now();
    await repository.git([...options, 'commit', '-q', '--allow-empty', '-m', 'timed']);
    times.push(performance.now() - begun);
  }
  return Math.min(...times);
}

/** 300 ms are promised; a busy machine may add as much again before a test fails for it. */
const MOST_ADDED_MS = 600;

async function expectInTime(repository: Repository): Promise<void> {
  const without = await best(repository, ['-c', 'core.hooksPath=/dev/null']);
  expect((await best(repository)) - without).toBeLessThan(MOST_ADDED_MS);
}

describe('a commit waits for nobody and fails for nobody when the daemon', () => {
  async function withDaemon(): Promise<{ project: Project; repository: Repository; pid: number }> {
    const { project, repository } = await begin();
    return { project, repository, pid: project.daemonFile()?.pid ?? 0 };
  }

  it('hangs', async () => {
    const { repository, pid } = await withDaemon();
    signal(pid, 'SIGSTOP');
    try {
      await expectInTime(repository);
    } finally {
      signal(pid, 'SIGCONT');
    }
  });

  it('was killed', async () => {
    const { project, repository, pid } = await withDaemon();
    signal(pid, 'SIGKILL');
    await expectInTime(repository);
    expect(project.daemonFile()?.pid).toBe(pid);
  });

  it('was stopped, and does not start one', async () => {
    const { project, repository } = await withDaemon();
    await project.cli(['stop']);
    await expectInTime(repository);
    expect(project.daemonFile()).toBeUndefined();
  });

  it('never was', async () => {
    const repository = await Repository.make(newProject().root);
    await hooks(repository.folder, 'install');
    await expectInTime(repository);
    expect(existsSync(repository.at('.agentsmithy'))).toBe(false);
  });

  it('is no longer installed', async () => {
    const { repository } = await withDaemon();
    const hook = repository.at('.git/hooks/pre-commit');
    const text = readFileSync(hook, 'utf8').replace(/^entry=.*$/mu, "entry='/nowhere/git-hook.js'");
    writeFileSync(hook, text);
    await expectInTime(repository);
  });

  it('has a state folder that makes no sense', async () => {
    const { project, repository } = await withDaemon();
    await project.cli(['stop']);
    rmSync(project.path('run'), { recursive: true, force: true });
    repository.write('.agentsmithy/run/daemon.json', 'not json');
    await expectInTime(repository);
  });
});
