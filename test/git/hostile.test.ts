import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DIALOG, file, git, GIT, hashOf, onTop, openStore, temporaryFolder } from './helpers.js';

/** A home whose git configuration runs a program wherever git offers to. */
function hostileHome(): { home: string; marker: string } {
  const home = temporaryFolder();
  const marker = join(home, 'marker');
  const program = join(home, 'program');
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${marker}\nexec cat\n`);
  chmodSync(program, 0o755);
  const hooks = join(home, 'hooks');
  mkdirSync(hooks);
  for (const hook of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'pre-commit']) {
    writeFileSync(join(hooks, hook), readFileSync(program));
    chmodSync(join(hooks, hook), 0o755);
  }
  writeFileSync(join(home, 'attributes'), '* filter=evil eol=crlf text diff=evil\n');
  writeFileSync(
    join(home, '.gitconfig'),
    `[core]
	fsmonitor = ${program}
	hooksPath = ${hooks}
	autocrlf = true
	attributesFile = ${join(home, 'attributes')}
	pager = ${program}
	editor = ${program}
[filter "evil"]
	clean = ${program}
	smudge = ${program}
	required = true
[diff]
	external = ${program}
[diff "evil"]
	textconv = ${program}
	command = ${program}
[commit]
	gpgSign = true
[gpg]
	program = ${program}
[alias]
	fast-import = !${program}
	repack = !${program}
[fastimport]
	unpackLimit = 1000
`,
  );
  return { home, marker };
}

describe('a store in a hostile environment', () => {
  it('runs nothing and keeps bytes as they are', async () => {
    const { home, marker } = hostileHome();
    const trap = temporaryFolder();
    git(trap, 'init', '-q');
    const environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_DIR: join(trap, '.git'),
      GIT_WORK_TREE: trap,
      GIT_INDEX_FILE: join(trap, '.git/index'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: join(home, 'hooks'),
      GIT_EXTERNAL_DIFF: join(home, 'program'),
      GIT_TRACE: join(home, 'trace'),
      GIT_ALTERNATE_OBJECT_DIRECTORIES: join(trap, '.git/objects'),
    };
    const before = readFileSync(join(trap, '.git/HEAD'), 'utf8');
    const { store } = await openStore({ environment, git: GIT });
    const attributes = '* filter=evil eol=crlf text ident\n';
    const content = '$Id$\r\nunix\nmixed\r\n';
    const first = await store.commit(
      onTop(null, [file('.gitattributes', attributes), file('a', content)]),
    );
    const second = await store.commit(onTop(first, [file('a', `${content}more`)]));
    await store.setBranches(DIALOG, [{ name: 'main', to: second, expected: null }]);
    await store.compare(first, second);
    await store.tree(second);
    await store.log(DIALOG, { branch: 'main', limit: 5 });
    await store.maintain();
    await store.prune();
    expect((await store.readBlob(hashOf(content))).toString()).toBe(content);
    expect(existsSync(marker)).toBe(false);
    expect(existsSync(join(home, 'trace'))).toBe(false);
    expect(readFileSync(join(trap, '.git/HEAD'), 'utf8')).toBe(before);
    expect(existsSync(join(trap, '.git/index'))).toBe(false);
  });

  it('does not believe a configuration that was changed while it runs', async () => {
    const { home, marker } = hostileHome();
    const { store, checkpoints } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    writeFileSync(
      join(checkpoints, '.git/config'),
      `[core]\n\trepositoryFormatVersion = 0\n\thooksPath = ${join(home, 'hooks')}\n`,
    );
    await store.setBranches(DIALOG, [{ name: 'main', to: tip, expected: null }]);
    expect(existsSync(marker)).toBe(false);
    expect((await store.branches(DIALOG)).get('main')).toBe(tip);
  });

  it("refuses a person's garbage collection rather than lose objects", async () => {
    const { store, checkpoints } = await openStore();
    const tip = await store.commit(onTop(null, [file('a', '1')]));
    const next = await store.commit(onTop(tip, [file('a', '2')]));
    for (const args of [
      ['gc', '--prune=now'],
      ['prune', '--expire=now'],
      ['repack', '-a', '-d'],
    ]) {
      try {
        git(checkpoints, ...args);
      } catch {
        // Refused is as good as harmless.
      }
    }
    expect((await store.readBlob(hashOf('1'))).toString()).toBe('1');
    expect((await store.branches(DIALOG)).get('session_1')).toBe(next);
  });
});
