/** A repository with everything that commits can do, made from a seed. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { randomNumbers } from './random-numbers.mjs';

const SOMEBODY = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Somebody',
  GIT_AUTHOR_EMAIL: 'somebody@example.org',
  GIT_COMMITTER_NAME: 'Somebody',
  GIT_COMMITTER_EMAIL: 'somebody@example.org',
};

export function makeHistory(folder, { commits, seed }) {
  const git = (...args) =>
    execFileSync('git', args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: '/nonexistent', ...SOMEBODY },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const random = randomNumbers(seed);
  const tracked = new Set();
  const at = (path) => join(folder, path);
  const pick = () => [...tracked][random(tracked.size)];
  const write = (path, content) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), content);
    tracked.add(path);
  };
  const remove = (path) => {
    rmSync(at(path), { force: true });
    tracked.delete(path);
  };
  const newName = () => `src/d${random(6)}/${random(3)}/file ${random(10_000)}.txt`;
  const text = () =>
    Array.from({ length: 1 + random(60) }, () => `line ${random(1_000)}\n`).join('');
  const binary = () => Buffer.from(Array.from({ length: 1 + random(5_000) }, () => random(256)));

  const kinds = [
    () => write(newName(), text()),
    () => write(`assets/${random(50)}.bin`, binary()),
    () => write(pick(), `${readFileSync(at(pick()), 'latin1')}one more line\r\n`),
    () => remove(pick()),
    () => {
      const [from, to] = [pick(), newName()];
      mkdirSync(dirname(at(to)), { recursive: true });
      renameSync(at(from), at(to));
      tracked.delete(from);
      tracked.add(to);
    },
    () => chmodSync(at(pick()), random(2) === 0 ? 0o755 : 0o644),
    () => {
      const link = `links/l${random(20)}`;
      mkdirSync(at('links'), { recursive: true });
      rmSync(at(link), { force: true });
      symlinkSync(['../src', '../README.md', 'nowhere', '/etc/hostname'][random(4)], at(link));
    },
    // A file becomes a folder, and the other way round.
    () => {
      const name = `turn${random(3)}`;
      const wasFile = tracked.has(name);
      rmSync(at(name), { recursive: true, force: true });
      for (const path of [...tracked]) {
        if (path === name || path.startsWith(`${name}/`)) tracked.delete(path);
      }
      write(wasFile ? `${name}/inside` : name, text());
    },
    () => write('.gitignore', random(2) === 0 ? '*.log\n' : '*.log\n/assets/1*\n'),
    () => write(`.github/workflows/w${random(3)}.yml`, text()),
    () => write(`.hidden/${random(5)}`, text()),
    () => write(`logs/${random(5)}.log`, text()),
  ];

  git('init', '-q', '-b', 'main');
  write('README.md', text());
  for (let number = 0; number < 10; number++) write(newName(), text());
  let pointer;
  for (let number = 0; number < commits; number++) {
    const isLarge = random(10) === 0;
    for (let step = isLarge ? 60 : 1 + random(5); step > 0; step--) {
      if (tracked.size < 5) write(newName(), text());
      else kinds[random(kinds.length)]();
    }
    // What is ignored is in the repository all the same, by force.
    git('add', '-A', '-f');
    if (pointer !== undefined && random(5) === 0) {
      git('update-index', '--add', '--cacheinfo', `160000,${pointer},vendor/module`);
    }
    git('commit', '-q', '--allow-empty', '-m', `commit ${number}`);
    pointer = git('rev-parse', 'HEAD').toString().trim();
    if (random(8) === 0) mergeSide(number);
  }

  function mergeSide(number) {
    const name = `of a side ${number}`;
    git('checkout', '-q', '-b', `side${number}`);
    write(name, text());
    git('add', '-A', '-f');
    git('commit', '-q', '-m', `side ${number}`);
    git('checkout', '-q', 'main');
    git('merge', '-q', '--no-ff', '-m', `merge ${number}`, `side${number}`);
    if (!existsSync(at(name))) throw new Error('the merge brought nothing');
  }
}
