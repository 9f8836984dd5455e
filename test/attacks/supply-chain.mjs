/** What comes with the packages and programs that the daemon stands on. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { CANARY, CLI, REPOSITORY } from './stage.mjs';

const json = (file) => JSON.parse(readFileSync(join(REPOSITORY, file), 'utf8'));
const locked = () =>
  Object.entries(json('package-lock.json').packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({ name: path.split('node_modules/').at(-1), path, ...entry }));

/** What is installed with the daemon on every machine; one more needs a reason and a line here. */
const MOST_PACKAGES = 24;
/** Only their .wasm is used, and they may be missing: nothing needs their install script. */
const MAY_HAVE_SCRIPTS = ['tree-sitter-javascript', 'tree-sitter-python', 'tree-sitter-typescript'];
const DEATH_MS = 30_000;
/** Times of files are those of the kernel's last tick. */
const CLOCK_STEP_MS = 50;
const UNWANTED = ['peacenotwar', 'oneday-test', '@achrinza/node-ipc', '@node-ipc/compat'];

export const CASES = [
  {
    id: 'T50',
    what: 'a package that is not the one that was reviewed: exact versions, digests, no lock drift, no other node-ipc',
    run(stage) {
      stage.endsWithoutDaemon = true;
      const manifest = json('package.json');
      const lock = json('package-lock.json').packages[''];
      for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
        assert.deepEqual(lock[kind], manifest[kind], `${kind} and the lockfile differ`);
        for (const [name, version] of Object.entries(manifest[kind])) {
          assert.match(version, /^\d+\.\d+\.\d+$/u, `${name} is not pinned`);
        }
      }
      const packages = locked();
      assert.deepEqual(
        packages
          .filter(({ integrity }) => !/^sha512-/u.test(integrity ?? ''))
          .map(({ path }) => path),
        [],
      );
      // An address in the lockfile would be fetched whatever registry somebody has chosen.
      const addressed = packages.filter(({ resolved }) => resolved !== undefined);
      assert.deepEqual(
        addressed.map(({ path }) => path),
        [],
      );
      assert.deepEqual(
        packages.filter(({ name }) => UNWANTED.includes(name)),
        [],
      );
      const ipc = packages.filter(({ name }) => name === 'node-ipc');
      assert.deepEqual(
        ipc.map(({ version, dev }) => [version, dev]),
        [['9.2.1', true]],
      );
      for (const { path, version } of packages.filter(({ dev }) => dev !== true)) {
        const file = join(REPOSITORY, path, 'package.json');
        if (existsSync(file))
          assert.equal(JSON.parse(readFileSync(file, 'utf8')).version, version, path);
      }
    },
  },
  {
    id: 'T51',
    what: 'install scripts: none is needed, and only optional packages have one',
    run(stage) {
      stage.endsWithoutDaemon = true;
      const own = json('package.json').scripts;
      for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
        assert.ok(!(name in own));
      const withScripts = locked().filter(({ hasInstallScript, dev }) => hasInstallScript && !dev);
      assert.deepEqual(withScripts.map(({ name }) => name).sort(), MAY_HAVE_SCRIPTS);
      assert.ok(withScripts.every(({ optional }) => optional === true));
    },
  },
  {
    id: 'T51',
    what: 'the daemon from an installation without scripts and without any optional package',
    async run(stage) {
      const place = join(stage.base, 'installed');
      mkdirSync(place);
      for (const item of ['dist', 'package.json'])
        cpSync(join(REPOSITORY, item), join(place, item), { recursive: true });
      // A platform's own binary of libsql is optional for npm only.
      const needed = locked().filter(
        ({ dev, optional, name }) =>
          dev !== true && (optional !== true || name.startsWith('@libsql/')),
      );
      for (const { path } of needed) {
        const from = join(REPOSITORY, path);
        if (existsSync(from)) cpSync(from, join(place, path), { recursive: true });
      }
      const words = [process.execPath, join(place, 'dist/cli/main.js'), '--root', stage.root];
      const { code, stderr } = await stage.run([...words, 'checkpoint', '-m', 'x']);
      assert.equal(code, 0, stderr);
      await stage.run([...words, 'stop']);
    },
  },
  {
    id: 'T52',
    what: `packages that come along unseen: no more than ${MOST_PACKAGES} on every machine`,
    run(stage) {
      stage.endsWithoutDaemon = true;
      const packages = locked().filter(({ dev, optional }) => dev !== true && optional !== true);
      assert.ok(packages.length <= MOST_PACKAGES, packages.map(({ name }) => name).join(' '));
    },
  },
  {
    id: 'T53',
    what: 'a git of 2018 on the machine: the start is refused with its version and what to do, and no checkpoint is promised by it',
    async run(stage) {
      const bin = join(stage.base, 'old');
      const real = spawnSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).stdout.trim();
      stage.write(
        join(bin, 'git'),
        `#!/bin/sh\n[ "$1" = --version ] && { echo git version 2.20.1; exit 0; }\nexec '${real}' "$@"\n`,
      );
      chmodSync(join(bin, 'git'), 0o755);
      const env = { PATH: `${bin}:${process.env.PATH}` };
      stage.endsWithoutDaemon = true;
      for (const words of [['start'], ['checkpoint'], ['doctor']]) {
        const { code, stdout, stderr } = await stage.cli(words, { env });
        assert.equal(code, 74, `${words[0]}: ${stdout}${stderr}`);
        assert.match(stdout + stderr, /2\.20\.1 is too old[^]*2\.36 or newer/u);
      }
      assert.equal(existsSync(stage.state('run/daemon.json')), false);
    },
  },
  {
    id: 'T55',
    what: 'the daemon aborts with core dumps allowed: no secret is left in a core file or a report',
    needs: () => (process.platform === 'linux' ? undefined : 'needs Linux'),
    async run(stage) {
      const folder = join(stage.base, 'cores');
      mkdirSync(folder);
      const line = `ulimit -c unlimited; cd '${folder}'; exec "$@"`;
      const words = ['sh', '-c', line, 'sh', process.execPath, CLI, '--root', stage.root, 'start'];
      const { code, stderr } = await stage.run(words);
      assert.equal(code, 0, stderr);
      const { pid, socket } = stage.info();
      assert.ok(existsSync(socket));
      const filter = Number.parseInt(readFileSync(`/proc/${pid}/coredump_filter`, 'utf8'), 16);
      assert.equal(filter, 0, 'a core file would hold the memory of the daemon');
      const begin = Date.now();
      process.kill(pid, 'SIGABRT');
      await isDead(pid);
      const found = [folder, '/', stage.root, stage.state('run')].flatMap((place) =>
        readdirSync(place)
          .filter((name) => /^core(?:\.\d+)?$|^report\..*\.json$/u.test(name))
          .map((name) => join(place, name)),
      );
      for (const file of found) {
        // An older one is somebody else's.
        if (statSync(file).mtimeMs < begin - CLOCK_STEP_MS) continue;
        assert.ok(!readFileSync(file).includes(CANARY), file);
        rmSync(file);
      }
    },
  },
];

/** The core file is whole by then; until then the kernel takes an older one of the same name away. */
async function isDead(pid) {
  const end = performance.now() + DEATH_MS;
  while (performance.now() < end) {
    try {
      if (/^State:\s+[ZX]/mu.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
    } catch {
      return;
    }
    await pause(5);
  }
  throw new Error(`process ${pid} outlives SIGABRT`);
}
