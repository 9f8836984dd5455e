import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The five-minute tour of the README, to be run: `$ command` and below it what it prints, where
 * `…` stands for anything. Lines that it prints and the README leaves out are no difference.
 */
export function readTour(readme) {
  const section = /^## A five-minute tour\n(.*?)^## /msu.exec(readFileSync(readme, 'utf8'))?.[1];
  const blocks = [...(section ?? '').matchAll(/^```console\n(.*?)^```/gmsu)].map(
    ([, text]) => text,
  );
  const steps = [];
  for (const line of blocks.join('').trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: [] });
    else if (line !== '') steps.at(-1).expected.push(line);
  }
  return steps;
}

/** Runs all commands in one shell, as a reader would; answers them with what each printed. */
export async function runTour({ steps, folder, cli }) {
  const bin = join(folder, 'bin');
  const home = join(folder, 'home');
  for (const one of [bin, home]) mkdirSync(one, { recursive: true });
  writeFileSync(join(bin, 'smithyd'), `#!/bin/sh\nexec "${process.execPath}" "${cli}" "$@"\n`);
  chmodSync(join(bin, 'smithyd'), 0o755);
  const script = steps.map(({ command }) => `${command}\nprintf '${MARK}%s${MARK}' $?\n`).join('');
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: home,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_PAGER: 'cat',
  };
  const output = await shell(`exec 2>&1\n${script}`, { cwd: folder, env });
  const parts = output.split(MARK);
  return steps.map((step, number) => ({
    ...step,
    printed: (parts[number * 2] ?? '').trimEnd(),
    code: Number(parts[number * 2 + 1] ?? NaN),
  }));
}

/** What the README promises and the command did not print. */
export function missing({ expected, printed }) {
  const lines = printed.split('\n');
  return expected.filter((wanted) => {
    const pattern = wanted.split('…').map(literally).join('.*');
    return !lines.some((line) => new RegExp(`^${pattern}$`, 'u').test(line.trimEnd()));
  });
}

const MARK = '\u001e';

function literally(text) {
  return text.replace(/[$()*+.?[\\\]^{|}]/gu, '\\$&');
}

function shell(script, options) {
  const child = spawn('bash', ['-s'], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (bytes) => (output += bytes));
  child.stdin.end(script);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}
