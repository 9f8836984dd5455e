/** F97 to F110: git is missing, old or stuck, or somebody was at our repositories. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const SOMEBODY = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];

function git(folder, ...args) {
  return execFileSync('git', [...SOMEBODY, ...args], {
    cwd: folder,
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

const repository = (stage, ...parts) =>
  stage.path('dialogs', stage.dialog, 'checkpoints/.git', ...parts);

function packs(stage, end) {
  const folder = stage.path('store/objects/pack');
  const found = readdirSync(folder).filter((name) => name.endsWith(end));
  return found
    .map((name) => join(folder, name))
    .sort((a, b) => statSync(b).size - statSync(a).size);
}

/** Spoils a byte in the middle; `heal` puts everything back, as a good disk would have it. */
function spoil(stage, file, at = Math.floor(statSync(file).size / 2)) {
  const bytes = readFileSync(file);
  const spoilt = Buffer.from(bytes);
  spoilt[at] ^= 0xff;
  chmodSync(file, 0o600);
  writeFileSync(file, spoilt);
  stage.onHeal(() => writeFileSync(file, bytes));
}

/** Damage is named, nothing false is given out, and the rest can be used. */
async function damaged(stage, end) {
  const big = Array.from({ length: 4000 }, (_, n) => `line ${n * 7919}\n`).join('');
  await stage.begin({ 'a.txt': 'one\n', 'big.txt': big });
  await stage.daemon.stop();
  const [file] = packs(stage, end);
  spoil(stage, file);
  await stage.start({});
  const { ok, damaged: found } = await stage.call('verify');
  assert.equal(ok, false);
  assert(
    found.some(({ file: name }) => file.endsWith(name)),
    JSON.stringify(found),
  );
  const shown = await stage
    .call('show', { at: stage.first, path: 'big.txt' })
    .catch((error) => error);
  if (shown instanceof Error) assert.notEqual(shown.code, 'INTERNAL');
  else assert.equal(shown.content, big, 'false content was given out');
  await stage.daemon.stop();
}

/** The branch is brought to where the ledger has it, and that is told. */
async function refMended(stage, harm) {
  await stage.begin();
  await stage.daemon.stop();
  harm(repository(stage, 'refs/heads/session_1'));
  await stage.start({});
  await stage.call('list_dialogs');
  assert.match(await stage.warnings(), /session_1 was not where the ledger has it/u);
  const { checkpoints } = await stage.call('list_checkpoints', { dialog_id: stage.dialog });
  assert.equal(checkpoints[0].commit_id, stage.tip);
}

export const gitStore = [
  {
    id: 'F97',
    what: 'git is missing',
    how: 'a PATH without it',
    async run(stage) {
      await stage.begin();
      await stage.daemon.stop();
      const said = await stage.noStart({ env: { PATH: stage.scratch('bin') } });
      assert.match(said, /git was not found[^]*2\.36 or newer/u);
    },
  },
  {
    id: 'F98',
    what: 'git is too old',
    how: 'one that calls itself 2.20',
    async run(stage) {
      await stage.begin();
      await stage.daemon.stop();
      const bin = stage.scratch('bin');
      const git = '#!/bin/sh\necho git version 2.20.1\nexit 0\n';
      writeFileSync(join(bin, 'git'), git, { mode: 0o755 });
      const said = await stage.noStart({ env: { PATH: bin } });
      assert.match(said, /2\.20\.1 is too old[^]*2\.36 or newer/u);
    },
  },
  {
    id: 'F99',
    what: 'locks that nobody holds',
    how: 'planted while the daemon runs, and while it does not',
    fast: true,
    async run(stage) {
      await stage.begin();
      const lock = repository(stage, 'refs/heads/session_1.lock');
      writeFileSync(lock, '');
      stage.put({ 'a.txt': 'held up\n' });
      // It may be somebody's, as long as we did not look at a start.
      assert.equal((await stage.refusal('create_checkpoint', {})).code, 'BUSY');
      await stage.daemon.stop();
      for (const name of ['HEAD.lock', 'index.lock', 'config.lock']) {
        writeFileSync(repository(stage, name), '');
      }
      await stage.start({});
      await stage.save('not held up');
    },
  },
  {
    id: 'F100',
    what: 'a damaged object',
    how: 'a flipped byte in the largest pack',
    fast: true,
    run: (stage) => damaged(stage, '.pack'),
  },
  {
    id: 'F101',
    what: 'an empty pack after a power cut',
    how: 'a pack and an index without a byte',
    async run(stage) {
      await stage.begin();
      await stage.daemon.kill();
      const stem = stage.path('store/objects/pack', `pack-${'ab'.repeat(20)}`);
      for (const end of ['.pack', '.idx']) writeFileSync(`${stem}${end}`, '');
      await stage.start({});
      await stage.call('list_dialogs');
      assert(!existsSync(`${stem}.idx`), 'it is still in the way');
      assert(existsSync(stage.path('store/torn', `pack-${'ab'.repeat(20)}.idx`)), 'it is gone');
    },
  },
  {
    id: 'F102',
    what: 'a damaged index of a pack',
    how: 'a flipped byte in the largest one',
    run: (stage) => damaged(stage, '.idx'),
  },
  {
    id: 'F103',
    what: 'a branch is missing',
    how: 'its file deleted',
    fast: true,
    run: (stage) => refMended(stage, (file) => rmSync(file)),
  },
  {
    id: 'F104',
    what: 'a branch names a commit that is not there',
    how: 'forty letters f',
    run: (stage) => refMended(stage, (file) => writeFileSync(file, `${'f'.repeat(40)}\n`)),
  },
  {
    id: 'F105',
    what: 'the configuration of a hidden repository was edited',
    how: 'a monitor and a hooks path that leave a mark',
    async run(stage) {
      await stage.begin();
      await stage.daemon.stop();
      const mark = join(stage.outside, 'mark');
      const evil = `[core]\n\tfsmonitor = "touch ${mark}"\n\thooksPath = /tmp\n`;
      for (const file of [repository(stage, 'config'), stage.path('store/engine/config')]) {
        appendFileSync(file, evil);
      }
      await stage.start({});
      stage.put({ 'a.txt': 'after it\n' });
      await stage.save('after it');
      assert(!existsSync(mark), 'a command of the configuration was run');
      assert(!readFileSync(repository(stage, 'config'), 'utf8').includes('fsmonitor = "touch'));
    },
  },
  {
    id: 'F106',
    what: 'the user collects garbage in the own repository',
    how: 'amend, reflog expire, gc --prune=now',
    async run(stage) {
      stage.put({ 'a.txt': 'committed\n', 'src/b.js': 'let c;\n' });
      git(stage.root, 'init', '-q');
      git(stage.root, 'add', '-A');
      git(stage.root, 'commit', '-qm', 'one');
      await stage.begin();
      git(stage.root, 'add', '-A');
      git(stage.root, 'commit', '-q', '--amend', '-m', 'other');
      git(stage.root, 'reflog', 'expire', '--expire=now', '--all');
      git(stage.root, 'gc', '-q', '--prune=now');
    },
  },
  {
    id: 'F107',
    what: 'somebody collects garbage in the hidden repository',
    how: 'gc --prune=now and prune inside checkpoints/',
    async run(stage) {
      await stage.begin();
      const { edit_id: edit } = await stage.call('start_edit', { files: ['a.txt'] });
      const inside = stage.path('dialogs', stage.dialog, 'checkpoints');
      for (const args of [['gc', '-q', '--prune=now'], ['prune'], ['repack', '-adq']]) {
        spawnSync('git', args, { cwd: inside, stdio: 'ignore' });
      }
      stage.put({ 'a.txt': 'edited\n' });
      await stage.call('finalize_edit', { edit_id: edit });
      // What such a collection leaves in the repository itself is its own doing.
      rmSync(join(inside, '.git/gc.log'), { force: true });
    },
  },
  {
    id: 'F108',
    what: 'the user switches branches in the middle of a dialog',
    how: 'git checkout of 200 other files',
    async run(stage) {
      git(stage.root, 'init', '-q', '-b', 'main');
      stage.put({ 'a.txt': 'main\n' });
      git(stage.root, 'add', '-A');
      git(stage.root, 'commit', '-qm', 'main');
      git(stage.root, 'checkout', '-qb', 'other');
      stage.put(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`o/f${n}`, `${n}\n`])));
      git(stage.root, 'add', '-A');
      git(stage.root, 'commit', '-qm', 'other');
      git(stage.root, 'checkout', '-q', 'main');
      await stage.begin({});
      git(stage.root, 'stash', '-qu');
      await stage.call('subscribe', { types: ['unknown_change'] });
      git(stage.root, 'checkout', '-q', 'other');
      await stage.save('on the other branch');
      const told = stage.daemon.events.filter(({ type }) => type === 'unknown_change');
      assert.deepEqual([...new Set(told.map(({ origin }) => origin))], ['git']);
    },
  },
  {
    id: 'F109',
    what: 'variables of git that were inherited',
    how: 'GIT_DIR, GIT_INDEX_FILE and others that lead outside',
    async run(stage) {
      const trap = stage.scratch('trap');
      mkdirSync(join(trap, 'objects'));
      const env = {
        GIT_DIR: trap,
        GIT_WORK_TREE: trap,
        GIT_INDEX_FILE: join(trap, 'index'),
        GIT_OBJECT_DIRECTORY: join(trap, 'objects'),
        GIT_CONFIG_GLOBAL: join(trap, 'config'),
        GIT_TRACE: join(trap, 'trace'),
      };
      await stage.begin(undefined, { env });
      assert.deepEqual(
        [...readdirSync(trap, { recursive: true })],
        ['objects'],
        'git followed a variable',
      );
    },
  },
  {
    id: 'F110',
    what: 'git hangs',
    how: 'SIGSTOP of the git that reads; a minute later it is given up',
    async run(stage) {
      await stage.begin();
      await stage.call('show', { at: stage.first, path: 'a.txt' });
      const [reader] = stage.children('cat-file');
      process.kill(reader, 'SIGSTOP');
      // Given up and asked for again, or refused; never waited for without an end.
      const outcome = await stage
        .call('show', { at: stage.first, path: 'src/b.js' })
        .catch(({ code }) => code);
      if (typeof outcome === 'string') assert(['TIMEOUT', 'STORAGE_IO'].includes(outcome), outcome);
      await stage.until('it is gone', () => !existsSync(`/proc/${reader}/exe`));
      const { content } = await stage.call('show', { at: stage.first, path: 'a.txt' });
      assert.equal(content, 'one\n');
    },
  },
];
