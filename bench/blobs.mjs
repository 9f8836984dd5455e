/**
 * Durable contents without a commit: one caller, twenty at once, and contents the store has
 * already, in one run against the floor: the same bytes appended to one file and flushed.
 * Rounds are interleaved, so that a busy machine hits both. Usage: node bench/blobs.mjs
 * [seconds]; needs a build. One line of JSON.
 */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { createStore } from '../dist/git/store.js';
import { createTidying } from '../dist/workspace/tidying.js';
import { quantile, round } from './numbers.mjs';

const SECONDS = Number(process.argv[2] ?? 10);
const ROUNDS = 300;
const CALLERS = 20;
const BYTES = 2048;
const GIT = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
const fdatasync = promisify(fs.fdatasync);

/** Text that deflates about as source code does. */
function freshBlob() {
  const bytes = Buffer.from(randomBytes(BYTES / 2).toString('hex'));
  const hash = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
  return { hash, content: () => bytes, size: bytes.length };
}

async function timed(into, work) {
  const start = performance.now();
  await work();
  into.push(performance.now() - start);
}

/** Everybody writes one blob after the other; how many a second in total, and each one's wait. */
async function together(write) {
  const waits = [];
  const end = performance.now() + SECONDS * 1000;
  const start = performance.now();
  const caller = async () => {
    while (performance.now() < end) {
      const blob = freshBlob();
      await timed(waits, () => write(blob));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { rate: (1000 * waits.length) / (performance.now() - start), waits };
}

const spread = (times) => ({
  p50: round(quantile(times, 0.5)),
  p99: round(quantile(times, 0.99)),
});

const folder = fs.mkdtempSync(join(tmpdir(), 'smithyd-bench-'));
const state = join(folder, 'state');
const store = createStore({ state, git: GIT, environment: { PATH: process.env.PATH } });
const file = fs.openSync(join(folder, 'floor'), 'w');
try {
  await store.open();
  await store.createRepository('BENCH');
  const write = (blob) => store.writeBlobs([blob]);
  const floor = async (blob) => {
    fs.writeSync(file, blob.content());
    await fdatasync(file);
  };
  for (let number = 0; number < 5; number++) await write(freshBlob());

  const one = { ours: [], floor: [], read: [], known: [] };
  for (let number = 0; number < ROUNDS; number++) {
    const blob = freshBlob();
    await timed(one.ours, () => write(blob));
    await timed(one.floor, () => floor(blob));
    await timed(one.read, () => store.readBlob(blob.hash));
    await timed(one.known, () => write(blob));
  }
  // As the daemon does: small packs are rolled up in the background.
  const tidy = createTidying(store, { write: () => undefined });
  let mostPacks = 0;
  const many = await together(async (blob) => {
    await write(blob);
    mostPacks = Math.max(mostPacks, store.sizes().packs);
    tidy();
  });
  const manyFloor = await together(floor);
  const last = [];
  for (let number = 0; number < ROUNDS; number++) {
    const blob = freshBlob();
    await write(blob);
    await timed(last, () => store.readBlob(blob.hash));
  }
  console.log(
    JSON.stringify({
      one_ms: spread(one.ours),
      floor_ms: spread(one.floor),
      known_ms: spread(one.known),
      read_back_ms: spread(one.read),
      many_per_second: round(many.rate, 0),
      many_ms: spread(many.waits),
      floor_per_second: round(manyFloor.rate, 0),
      read_back_afterwards_ms: spread(last),
      most_packs: mostPacks,
    }),
  );
} finally {
  await store.close();
  fs.closeSync(file);
  fs.rmSync(folder, { recursive: true, force: true });
}
