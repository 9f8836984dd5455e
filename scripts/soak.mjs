/**
 * Hours of work by several agents, people, a shell and git on one project, while the daemon and its
 * clients are killed at random. Now and then everybody stops, and a checkpoint is compared with what
 * git makes of the folder. At the end every acknowledged checkpoint and every acknowledged content must
 * be there, a sample of checkpoints is restored exactly, `verify` finds nothing, nothing is left over.
 * Prints a table, writes memory, disk and latency as an SVG, ends with 1 when anything is missing.
 *
 * Usage: npm run soak [-- --minutes 5 (or --hours 2) --files 3000 --agents 4 --rest 30 --seed N --report soak.svg]
 * An agent rests up to `--rest` milliseconds between two turns.
 */
import { strict as assert } from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bytesIn } from '../test/support/disk-usage.mjs';
import { createGitView, git } from '../test/support/git-view.mjs';
import { randomNumbers } from '../test/support/random-numbers.mjs';
import { createActors } from '../test/support/soak/actors.mjs';
import { detachedDaemon } from '../test/support/soak/detached-daemon.mjs';
import { plot } from '../test/support/soak/plot.mjs';
import { createRecord } from '../test/support/soak/record.mjs';

const number = (text) => ({ type: 'string', default: text });
const { values } = parseArgs({
  options: {
    ...{ minutes: number('5'), hours: number(''), files: number('3000'), agents: number('4') },
    rest: number('30'),
    ...{ seed: number(String(Date.now() % 1e9)), report: number('soak.svg') },
  },
});
const minutes = values.hours === '' ? Number(values.minutes) : Number(values.hours) * 60;
const { files, agents, rest, seed } = Object.fromEntries(
  Object.entries(values).map(([name, text]) => [name, Number(text)]),
);
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const env = { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: 'C.UTF-8' };
const random = randomNumbers(seed);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-soak-')));
const state = join(root, '.agentsmithy');
const record = createRecord(random);
const actors = createActors({ root, random, cli, env, files, record });
const view = createGitView(root);
const daemon = detachedDaemon({ root, cli, env });
/** Seconds at which the daemon was killed. */
const kills = [];
const memory = [];
const disk = [];
/** Commit -> the tree that git made of the folder at that moment. */
const exact = new Map();

const TAKEN_BACK_MS = 30_000;
const NEWS_S = 600;
let isOver = false;
/** While it is set, everybody waits for it. */
let silence;
const working = new Set();

async function loop(turn, restMs) {
  while (!isOver) {
    await silence;
    const work = Promise.resolve(turn());
    working.add(work);
    await work.finally(() => working.delete(work));
    await pause(restMs());
  }
}

async function inSilence(work) {
  let end;
  silence = new Promise((resolve) => (end = resolve));
  await Promise.allSettled([...working]);
  try {
    await work();
  } finally {
    silence = undefined;
    end();
  }
}

async function agent(at) {
  const name = `agent-${at}`;
  let connection;
  let dialog;
  await loop(
    async () => {
      try {
        connection ??= await daemon.open();
        dialog ??= (await connection.must('create_dialog', { title: name })).dialog_id;
        await actors.agentTurn({ connection, name, dialog });
      } catch {
        connection = undefined;
        await pause(50);
      }
    },
    () => random(rest),
  );
  connection?.destroy();
}

/** Kills, and now and then stops in order; clients find the next daemon by themselves. */
async function killer() {
  await loop(
    async () => {
      const signal = random(5) === 0 ? 'SIGTERM' : 'SIGKILL';
      await daemon.end(signal);
      if (signal === 'SIGKILL') kills.push(record.seconds());
      record.done(signal);
      await daemon.start();
    },
    () => 8_000 + random(12_000),
  );
}

async function sampler() {
  while (!isOver) {
    await pause(1_000);
    const connection = await daemon.open().catch(() => undefined);
    if (connection === undefined) continue;
    const begun = performance.now();
    const answer = await connection.call('status').catch(() => undefined);
    if (answer?.result !== undefined) {
      record.latency('status', performance.now() - begun);
      memory.push([record.seconds(), answer.result.memory_bytes / 1e6]);
      disk.push([record.seconds(), bytesIn(state) / 1e6]);
    }
    connection.destroy();
  }
}

/** Edits of clients that hung up are taken back after that, and files with them. */
async function nobodyIsTakenBack(connection) {
  const end = performance.now() + TAKEN_BACK_MS;
  for (;;) {
    const { edits } = await connection.must('list_edits');
    if (edits.every((edit) => edit.state !== 'open' || edit.scope === 'project')) return;
    assert.ok(performance.now() < end, `still open: ${JSON.stringify(edits).slice(0, 500)}`);
    await pause(20);
  }
}

async function settled() {
  const connection = await daemon.open();
  await nobodyIsTakenBack(connection);
  const { tree } = view.look();
  const begun = performance.now();
  const saved = await connection.must('create_checkpoint', { message: 'everybody is still' });
  record.latency('create_checkpoint', performance.now() - begun);
  const { current_dialog_id: dialog } = await connection.must('status');
  record.checkpoint(dialog, saved.commit_id);
  exact.set(saved.commit_id, { tree, dialog });
  assert.equal(treeOf(dialog, saved.commit_id), tree, 'a checkpoint is not what git sees');
  connection.destroy();
}

const repository = (dialog) => join(state, 'dialogs', dialog, 'checkpoints');
const treeOf = (dialog, commit) =>
  git(repository(dialog), ['rev-parse', `${commit}^{tree}`], env).trim();

async function verifyAll() {
  // A git that looks while packs are rolled up misses those it knew.
  await daemon.end('SIGTERM');
  let commits = 0;
  for (const [dialog, known] of record.checkpoints) {
    const reachable = new Set(git(repository(dialog), ['rev-list', '--all'], env).split('\n'));
    for (const commit of known) assert.ok(reachable.has(commit), `${commit} of ${dialog} is lost`);
    commits += known.size;
    git(repository(dialog), ['fsck', '--strict', '--full'], env);
  }
  const [any] = record.checkpoints.keys();
  const missing = git(repository(any), ['cat-file', '--batch-check', '--batch-all-objects'], env);
  const stored = new Set(missing.split('\n').map((line) => line.slice(0, 40)));
  for (const hash of record.contents) assert.ok(stored.has(hash), `content ${hash} is lost`);
  await daemon.start();
  const connection = await daemon.open();
  const sample = [...exact].filter(() => random(3) === 0).slice(-8);
  for (const [commit, { tree, dialog }] of sample) {
    await connection.must('restore', { checkpoint_id: commit, dialog_id: dialog });
    assert.equal(view.look().tree, tree, `${commit} was not restored exactly`);
  }
  const { ok, damaged } = await connection.must('verify');
  assert.ok(ok, JSON.stringify(damaged));
  connection.destroy();
  return { commits, restored: sample.length };
}

/** After an orderly end nothing is left that only a running daemon has. */
function leftOvers() {
  const packs = readdirSync(join(state, 'store/objects/pack'));
  const run = readdirSync(join(state, 'run'));
  return [
    ...packs.filter((name) => name.startsWith('tmp_') || name.endsWith('.keep')),
    ...run.filter((name) => name === 'daemon.json' || name.endsWith('.sock')),
  ];
}

const answered = () => [...record.doneCounts.values()].reduce((sum, count) => sum + count, 0);

function report({ commits, restored }) {
  const quantile = (all, share) =>
    all.length === 0 ? 0 : all.sort((a, b) => a - b)[Math.floor((all.length - 1) * share)];
  const status = record.all('status');
  const rows = [
    ['minutes', minutes.toFixed(1)],
    ['operations answered', answered()],
    ['refused, as may be', [...record.refusedCounts.values()].reduce((sum, one) => sum + one, 0)],
    ['daemons killed', record.doneCounts.get('SIGKILL') ?? 0],
    ['checkpoints acknowledged, all there', commits],
    ['contents acknowledged, all there', record.contents.size],
    ['checkpoints equal to what git saw', exact.size],
    ['of them restored exactly', restored],
    [
      'status, p50 / p99',
      `${quantile(status, 0.5).toFixed(1)} / ${quantile(status, 0.99).toFixed(1)} ms`,
    ],
    ['memory, first / last', `${memory[0]?.[1].toFixed(0)} / ${memory.at(-1)?.[1].toFixed(0)} MB`],
    ['disk at the end', `${(bytesIn(state) / 1e6).toFixed(0)} MB`],
  ];
  for (const [what, value] of rows) console.log(`${what.padEnd(40)} ${value}`);
  writeFileSync(
    values.report,
    plot({
      title: `${minutes} minutes, ${agents} agents, ${files} files, ${kills.length} kills (dashed), seed ${seed}`,
      seconds: record.seconds(),
      marks: kills,
      panels: [
        {
          title: 'memory of the daemon',
          unit: 'MB',
          curves: [{ name: 'resident', points: memory }],
        },
        { title: 'disk', unit: 'MB', curves: [{ name: '.agentsmithy', points: disk }] },
        {
          title: 'latency, worst of ten seconds',
          unit: 'ms',
          curves: [
            { name: 'status', points: record.worst('status') },
            { name: 'create_checkpoint', points: record.worst('checkpoint') },
          ],
        },
      ],
    }),
  );
  console.log(`curves: ${values.report}`);
}

try {
  for (let at = 0; at < files; at++) actors.change(actors.fileAt(at), 'nobody');
  git(root, ['init', '-q', '.'], env);
  git(root, ['add', '-A'], env);
  git(root, ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'the beginning'], env);
  await daemon.start();
  const all = [
    ...Array.from({ length: agents }, (_, at) => agent(at)),
    loop(actors.personTurn, () => 20 + random(200)),
    loop(actors.shellTurn, () => 1_000 + random(2_000)),
    loop(actors.gitTurn, () => 2_000 + random(4_000)),
    ...[killer(), sampler()],
  ];
  let told = 0;
  while (record.seconds() < minutes * 60 && record.failures.length === 0) {
    if (record.seconds() - told >= NEWS_S) {
      told = record.seconds();
      const rounded = Math.round(told / 60);
      console.log(
        `${rounded} of ${minutes} minutes, ${kills.length} kills, ${answered()} answered`,
      );
    }
    await pause(Math.min(15_000, Math.max(0, minutes * 60 - record.seconds()) * 1000));
    await inSilence(settled);
  }
  isOver = true;
  await Promise.all(all);
  assert.deepEqual(record.failures, []);
  const figures = await verifyAll();
  report(figures);
  await daemon.end('SIGTERM');
  assert.deepEqual(leftOvers(), []);
  git(root, ['fsck', '--strict'], env);
  console.log(`seed ${seed}: nothing lost`);
} catch (error) {
  isOver = true;
  console.log(`seed ${seed}: ${error.stack}`);
  process.exitCode = 1;
} finally {
  await daemon.end('SIGKILL');
  view.remove();
  const log = join(state, 'run/daemon.log');
  if (process.exitCode === 1)
    console.log(readFileSync(log, 'utf8').split('\n').slice(-20).join('\n'));
  if (process.exitCode !== 1) rmSync(root, { recursive: true, force: true, maxRetries: 20 });
}
