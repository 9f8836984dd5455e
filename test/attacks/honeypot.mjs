/**
 * A repository, a home and a shell in which everything that can name a command names ours, which
 * leaves a line in a file. Whoever runs any of it is found out.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const HOOKS = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'prepare-commit-msg',
  'reference-transaction',
  'update',
];

/** Every key of git's configuration that can name a command, or leads to a file that can. */
const settings = ({ program, hooks, template, attributes }) => [
  ['core.fsmonitor', program],
  ['core.hooksPath', hooks],
  ['core.attributesFile', attributes],
  ['core.editor', program],
  ['core.pager', program],
  ['core.askPass', program],
  ['core.sshCommand', program],
  ['core.gitProxy', program],
  ['core.alternateRefsCommand', program],
  ['core.autocrlf', 'true'],
  ['init.templateDir', template],
  ['sequence.editor', program],
  ['diff.external', program],
  ['diff.evil.textconv', program],
  ['diff.evil.command', program],
  ['filter.evil.clean', program],
  ['filter.evil.smudge', program],
  ['filter.evil.process', program],
  ['filter.evil.required', 'true'],
  ['filter.inside.clean', './tools/filter.sh'],
  ['filter.inside.smudge', './tools/filter.sh'],
  ['filter.lfs.process', `${program} lfs`],
  ['filter.lfs.required', 'true'],
  ['merge.evil.driver', program],
  ['merge.default', 'evil'],
  ['mergetool.evil.cmd', program],
  ['difftool.evil.cmd', program],
  ['interactive.diffFilter', program],
  ['commit.gpgSign', 'true'],
  ['tag.gpgSign', 'true'],
  ['log.showSignature', 'true'],
  ['gpg.program', program],
  ['gpg.ssh.program', program],
  ['gpg.x509.program', program],
  ['gpg.ssh.defaultKeyCommand', program],
  ['credential.helper', `!${program}`],
  ['uploadpack.packObjectsHook', program],
  ['gc.recentObjectsHook', program],
  ['gc.auto', '1'],
  ['maintenance.auto', 'true'],
  ['protocol.ext.allow', 'always'],
  ['remote.origin.url', `ext::${program}`],
  ['remote.origin.promisor', 'true'],
  ['remote.origin.uploadpack', program],
  ['remote.origin.receivepack', program],
  ['remote.origin.vcs', 'evil'],
  ['submodule.evil.update', `!${program}`],
  ['trailer.evil.command', program],
  ['trailer.evil.cmd', program],
  ['tar.evil.command', program],
  ['browser.evil.cmd', program],
  ['man.evil.cmd', program],
  ['guitool.evil.cmd', program],
  ['pager.config', program],
  ['pager.log', program],
  ...['config', 'fast-import', 'cat-file', 'repack', 'log', 'diff-tree', 'pack-objects'].map(
    (command) => [`alias.${command}`, `!${program}`],
  ),
];

/** Not all of git reads its own names as these do; the control shows that the trap works. */
export function layHoneypot({ root, home, trap }) {
  const marker = join(trap, 'marker');
  const places = {
    program: join(trap, 'program'),
    hooks: join(trap, 'hooks'),
    template: join(trap, 'template'),
    attributes: join(trap, 'attributes'),
  };
  const script = `#!/bin/sh\necho "$0 $*" >> '${marker}'\ncat\n`;
  writeProgram(places.program, script);
  for (const hook of HOOKS) {
    writeProgram(join(places.hooks, hook), script);
    writeProgram(join(places.template, 'hooks', hook), script);
  }
  write(places.attributes, '* filter=evil diff=evil merge=evil text eol=crlf ident\n');
  const pairs = settings(places);
  write(join(home, '.gitconfig'), configText([...pairs, ['user.name', 'E'], ['user.email', 'e']]));

  git(root, ['init', '-q', '-b', 'main']);
  write(join(root, 'readme.txt'), 'plain $Id$\r\nwords\n');
  write(join(root, 'src/app.ts'), 'export const answer = 42;\n');
  git(root, ['add', '-A']);
  git(root, ['commit', '-q', '-m', 'first']);
  for (const hook of HOOKS) writeProgram(join(root, '.git/hooks', hook), script);
  write(join(root, '.git/config.evil'), configText(pairs));
  write(
    join(root, '.git/config'),
    `[core]\n\trepositoryFormatVersion = 0\n[include]\n\tpath = config.evil\n${configText(pairs)}`,
  );
  write(join(root, '.git/info/attributes'), '* filter=evil diff=evil merge=evil eol=crlf\n');
  write(
    join(root, '.gitattributes'),
    '* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n' +
      '*.ts filter=inside\n*.bin filter=lfs diff=lfs merge=lfs -text\n',
  );
  write(join(root, '.lfsconfig'), `[lfs]\n\turl = http://127.0.0.1:9/evil\n`);
  write(join(root, 'big.bin'), 'version https://git-lfs.github.com/spec/v1\nsize 12\n');
  writeProgram(join(root, 'tools/filter.sh'), script);
  writeProgram(join(root, 'git'), script);
  writeProgram(join(root, 'node'), script);
  return { marker, control: () => git(root, ['status', '--short'], { HOME: home }) };
}

/** Git as a careless program starts it, unless `env` says more. */
export function git(folder, args, env = {}) {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Somebody',
      GIT_AUTHOR_EMAIL: 'somebody@example.org',
      GIT_COMMITTER_NAME: 'Somebody',
      GIT_COMMITTER_EMAIL: 'somebody@example.org',
      ...(env.HOME === undefined ? { GIT_CONFIG_GLOBAL: '/dev/null' } : {}),
      ...env,
    },
  });
  if (status === 0 || env.HOME !== undefined) return stdout;
  throw new Error(`git ${args.join(' ')} ended with ${status}: ${stderr}`);
}

function configText(pairs) {
  return pairs
    .map(([key, value]) => {
      const parts = key.split('.');
      const [section, name] = [parts[0], parts.at(-1)];
      const middle = parts.slice(1, -1).join('.');
      const head = middle === '' ? `[${section}]` : `[${section} "${middle}"]`;
      return `${head}\n\t${name} = ${JSON.stringify(value)}\n`;
    })
    .join('');
}

function writeProgram(path, text) {
  write(path, text);
  chmodSync(path, 0o755);
}

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
