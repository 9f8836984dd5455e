/**
 * A second process swaps a folder for a link to a canary folder outside, as fast as it can, while a
 * restore writes, replaces and deletes thousands of files below it. First the plain way as a control,
 * which shows that the race is a real one; then ours, which must let nothing out. Needs a build.
 *   node scripts/race.mjs [seconds]
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createTreeWriter } from '../dist/files/tree-writer.js';

const SWAPPER = fileURLToPath(new URL('../test/files/swapper.mjs', import.meta.url));
const FILES = 2000;
const seconds = Number(process.argv[2] ?? 30);
const bytesOf = (round) => Buffer.from(`round ${round % 2}\n`);
const entryOf = (bytes) => ({
  mode: '100644',
  hash: createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
});
const pathOf = (number) => `up/d/${number % 2 === 0 ? 'sub/' : ''}file-${number}`;

/** Deletes one half of the names and writes the other, then the other way round; half are replaced. */
async function restoreRound(writer, round) {
  const [before, after] = [entryOf(bytesOf(round + 1)), entryOf(bytesOf(round))];
  const steps = [];
  for (let number = 0; number < FILES; number += 1) {
    const path = pathOf(number);
    const kind = (number + round) % 4;
    if (kind === 0) steps.push({ kind: 'delete', path, expect: before });
    if (kind === 1) steps.push({ kind: 'delete', path, expect: after });
    if (kind >= 2) steps.push({ kind: 'write', path, ...after, expect: before });
  }
  const outcomes = await writer.apply(steps, () => Promise.resolve(bytesOf(round)));
  return outcomes.map(({ result, reason }) => reason ?? result);
}

function plainRound(root, round) {
  return Array.from({ length: FILES }, (_, number) => {
    try {
      writeFileSync(join(root, pathOf(number)), bytesOf(round));
      return 'restored';
    } catch (error) {
      return error.code;
    }
  });
}

async function race(name, duration, roundOf) {
  const root = mkdtempSync(join(tmpdir(), 'smithyd-race-'));
  const outside = mkdtempSync(join(tmpdir(), 'smithyd-outside-'));
  mkdirSync(join(root, 'up/d/sub'), { recursive: true });
  mkdirSync(join(outside, 'sub'));
  writeFileSync(join(outside, 'canary'), 'alive');
  const swapper = spawn(process.execPath, [SWAPPER, join(root, 'up/d'), outside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(swapper.stdout)[Symbol.asyncIterator]();
  const counts = {};
  let rounds = 0;
  try {
    await lines.next();
    const runRound = roundOf(root);
    for (const end = performance.now() + duration * 1000; performance.now() < end; rounds += 1) {
      for (const word of await runRound(rounds)) counts[word] = (counts[word] ?? 0) + 1;
    }
    swapper.stdin.end();
    const { value: swaps } = await lines.next();
    await once(swapper, 'close');
    const found = readdirSync(outside, { recursive: true }).filter(
      (file) => file !== 'canary' && file !== 'sub',
    );
    const isAlive = readFileSync(join(outside, 'canary'), 'utf8') === 'alive';
    const escaped = isAlive ? found.length : found.length + 1;
    console.log(`${name}: ${swaps} swaps, ${rounds} rounds of ${FILES} files, ${escaped} outside`);
    console.log(`  ${JSON.stringify(counts)}`);
    return escaped;
  } finally {
    swapper.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    rmSync(outside, { recursive: true, force: true });
  }
}

await race('plain writes', Math.min(seconds, 3), (root) => (round) => plainRound(root, round));
const escaped = await race('restore', seconds, (root) => {
  const writer = createTreeWriter({ root });
  return (round) => restoreRound(writer, round);
});
process.exit(escaped === 0 ? 0 : 1);
