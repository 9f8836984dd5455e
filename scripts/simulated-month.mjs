/**
 * A month of work through the built daemon: messages, each followed by edits, approvals and resets, a
 * bookmark of a checkpoint and one of a snapshot each day, `gc` in the evening. Tells what is on the
 * disk after each day, and ends with 1 when the store is over its limit, a bookmark is not what it was,
 * or anything is not what was written. The clock is the machine's: nothing gets older than the run takes.
 *
 * Usage: node scripts/build.mjs && node scripts/simulated-month.mjs [--days 30] [--messages 200]
 *        [--edits 20] [--megabytes 30] [--limit BYTES] [--seed N]
 */
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDaemon } from '../test/support/daemon-process.mjs';
import { bytesIn } from '../test/support/disk-usage.mjs';
import { randomNumbers } from '../test/support/random-numbers.mjs';

const FILE_BYTES = 10_240;
const MB = 1024 * 1024;
/** Messages between two approvals; every third time it is a reset. */
const CHAPTER = 25;
const SAMPLES = 50;

const number = (text) => ({ type: 'string', default: text });
const { values } = parseArgs({
  options: {
    days: number('30'),
    messages: number('200'),
    edits: number('20'),
    megabytes: number('30'),
    limit: number(''),
    seed: number(String(Date.now() % 1e9)),
  },
});
const [days, messages, edits, megabytes, seed] = [
  ...[values.days, values.messages, values.edits],
  ...[values.megabytes, values.seed],
].map(Number);
const random = randomNumbers(seed);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-month-')));
const state = join(root, '.agentsmithy');
const paths = Array.from(
  { length: Math.ceil((megabytes * MB) / FILE_BYTES) },
  (_, at) => `src/part-${at % 60}/module-${at}.ts`,
);
/** Bookmark -> path -> digest. */
const marked = new Map();
let daemon;
let socket;
let words = 0;

const at = (path) => join(root, path);
const digest = (bytes) => createHash('sha1').update(bytes).digest('hex');
const onDisk = () => new Map(paths.map((path) => [path, digest(readFileSync(at(path)))]));

function line() {
  words += 1;
  return `export const value${words} = ${random(1e9)}; // ${random(1e9).toString(36)} of ${random(1e6)}`;
}

function write(path, lines) {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), lines.join('\n'));
}

async function edit() {
  const path = paths[random(paths.length)];
  const { edit_id: id } = await socket.must('start_edit', {
    files: [path],
    agent: { name: 'claude' },
  });
  const lines = readFileSync(at(path), 'utf8').split('\n');
  const from = random(lines.length);
  lines.splice(from, 1 + random(3), ...Array.from({ length: 1 + random(3) }, line));
  write(path, lines);
  await socket.must('finalize_edit', { edit_id: id });
}

async function bookmark(day) {
  const { name } = await socket.must('bookmark_add', { name: `day-${day}` });
  marked.set(name, onDisk());
  const { id } = await socket.must('snapshot_save', { name: `evening-${day}` });
  await socket.must('bookmark_add', { name: `evening-${day}`, snapshot: id });
  marked.set(`evening-${day}`, onDisk());
}

async function workDay(day) {
  for (let message = 1; message <= messages; message++) {
    await socket.must('user_message', { content: `day ${day}, message ${message}` });
    for (let count = 0; count < edits; count++) await edit();
    if (message % CHAPTER === 0) {
      await socket.must(message % (CHAPTER * 3) === 0 ? 'reset' : 'approve');
    }
    if (message === Math.ceil(messages / 2)) await bookmark(day);
  }
}

const mb = (bytes) => `${(bytes / MB).toFixed(1)} MB`;

/** What a few files of every bookmark are now. */
async function checkSamples() {
  for (const [name, tree] of marked) {
    for (let sample = 0; sample < SAMPLES; sample++) {
      const path = paths[random(paths.length)];
      const { content } = await socket.must('show', { at: name, path });
      assert.equal(digest(content), tree.get(path), `${path} at ${name}`);
    }
  }
}

async function evening(day, begun) {
  const dry = await socket.must('gc', { dry_run: true });
  const gcBegun = performance.now();
  const done = await socket.must('gc');
  const gcMs = performance.now() - gcBegun;
  // Another snapshot may have been made in between, and the daemon thins them out by itself as well.
  const there = new Set((await socket.must('snapshot_list')).snapshots.map(({ id }) => id));
  for (const id of dry.removed.snapshots) assert.ok(!there.has(id), `${id} was to go`);
  await checkSamples();
  const { ledger, store } = await socket.must('status');
  const { kept } = done;
  assert.ok(store.bytes <= store.limit_bytes, `the store is over its limit: ${store.bytes}`);
  const left = Object.values(kept.snapshots).reduce((sum, count) => sum + count, 0);
  console.log(
    [
      `day ${day}: ${Math.round((performance.now() - begun) / 1000)} s`,
      `on disk ${mb(bytesIn(state))}`,
      `store ${mb(store.bytes)} of ${mb(store.limit_bytes)}`,
      `ledger ${mb(ledger.bytes)} in ${ledger.events} events`,
      `gc freed ${mb(done.freed_bytes)} in ${(gcMs / 1000).toFixed(1)} s`,
      `${left} snapshots, ${kept.checkpoints} checkpoints, ${kept.bookmarks} bookmarks`,
    ].join('; '),
  );
}

async function restoreAll() {
  for (const [name, tree] of marked) {
    await socket.must('restore', { checkpoint_id: name });
    assert.deepEqual(onDisk(), tree, `the project at ${name}`);
  }
}

try {
  for (const path of paths) {
    const lines = [];
    for (let bytes = 0; bytes < FILE_BYTES; bytes += lines.at(-1).length + 1) lines.push(line());
    write(path, lines);
  }
  daemon = await startDaemon({
    root,
    cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
  });
  socket = await daemon.open();
  if (values.limit !== '') {
    await socket.must('update_config', { store: { limitBytes: Number(values.limit) } });
  }
  await socket.must('create_dialog', { title: 'a month' });
  for (let day = 1; day <= days; day++) {
    const begun = performance.now();
    await workDay(day);
    await evening(day, begun);
  }
  await restoreAll();
  const { ok, files, damaged } = await socket.must('verify');
  assert.ok(ok, JSON.stringify(damaged));
  console.log(`seed ${seed}: ${marked.size} bookmarks restored, ${files} files verified`);
} catch (error) {
  console.log(`seed ${seed}: ${error.stack}`);
  process.exitCode = 1;
} finally {
  socket?.destroy();
  await daemon?.stop('SIGTERM');
  rmSync(root, { recursive: true, force: true });
}
