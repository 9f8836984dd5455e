/**
 * The ledger with a million events, through the daemon's socket, against the same project without
 * them; and what an append costs against the same bytes appended to a bare file and flushed.
 * Needs a build.
 */
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import { readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from '../dist/index.js';
import { createLedger } from '../dist/ledger/ledger.js';
import { endDaemon } from './daemon-end.mjs';
import { makeLedger } from './ledger-maker.mjs';
import { quantile, round, verdict } from './numbers.mjs';
import { table } from './section.mjs';
import { makeTree, pathOf } from './source-tree.mjs';

const EVENTS = 1_000_000;
const DIALOGS = 20;
const FILES = 500;
const APPENDS = 400;
const ROUNDS = 25;
const STARTS = 3;

export async function ledgerSection({ say = () => undefined, events = EVENTS } = {}) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const runs = { few: [], many: [] };
  try {
    say(`two projects with ${DIALOGS} dialogs`);
    const roots = { few: join(base, 'few'), many: join(base, 'many') };
    await makeProject(roots.few);
    const live = await makeProject(roots.many);
    say(`${events} lines`);
    const made = makeLedger(join(roots.many, '.agentsmithy/ledger'), { events, live });
    say('the first start: nothing is put aside, every line is read');
    const first = await start(roots.many);
    await first.stop();
    const isRaised = raisePriority();
    say('append against a bare append');
    const appends = await measureAppends(join(base, 'append'));
    for (let number = 1; number <= STARTS; number++) {
      say(`start ${number}, in turns`);
      for (const [name, root] of Object.entries(roots)) {
        const run = await start(root);
        runs[name].push(run);
        if (number < STARTS) await run.stop();
      }
    }
    say('queries');
    const [few, many] = [runs.few.at(-1), runs.many.at(-1)];
    const memory = { few: memoryOf(few.pid), many: memoryOf(many.pid) };
    const queries = await measureHistory(many.client, { live, events });
    const after = memoryOf(many.pid);
    return describe({ appends, made, first, runs, queries, memory, after, isRaised });
  } finally {
    for (const run of [runs.few.at(-1), runs.many.at(-1)]) await run?.stop();
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

/** What is measured is short; the daemon inherits it. */
function raisePriority() {
  try {
    setPriority(-15);
    return true;
  } catch {
    return false;
  }
}

/** One after the other, each flushed, in turns with the same bytes to a bare file. */
export async function measureAppends(folder) {
  const ledger = createLedger({ folder: join(folder, 'ledger') });
  await ledger.open();
  const path = join(folder, 'ledger/events.jsonl');
  const bare = openSync(join(folder, 'bare'), 'w');
  const times = { ledger: [], bare: [] };
  for (let at = 0; at < APPENDS; at++) {
    const event = {
      ts: '2026-01-01T00:00:00.000Z',
      author: { name: 'bench', kind: 'agent' },
      action_type: 'edit_replace',
      files: [pathOf(at)],
      changes: [{ path: pathOf(at), before: '1'.repeat(40), after: '2'.repeat(40) }],
      by: 'agent:bench',
    };
    let begun = performance.now();
    await ledger.append([event]);
    times.ledger.push(performance.now() - begun);
    const bytes = Buffer.alloc(Math.floor(ledger.stats().bytes / (at + 1)), 'x');
    begun = performance.now();
    writeSync(bare, bytes);
    fdatasyncSync(bare);
    times.bare.push(performance.now() - begun);
  }
  closeSync(bare);
  await ledger.close();
  if (readFileSync(path).length === 0) throw new Error('nothing was written');
  return times;
}

export async function makeProject(root) {
  mkdirSync(root, { recursive: true });
  makeTree(root, FILES);
  const client = await connect(root, { timeoutMs: 120_000 });
  const live = [];
  for (let number = 0; number < DIALOGS; number++) {
    const { dialog_id: id, initial_checkpoint: tip } = await client.create_dialog({
      title: `${number}`,
    });
    live.push({ id, tip });
  }
  await endDaemon(client);
  return live;
}

/** To the first answer that needs the whole ledger. */
export async function start(root) {
  const begun = performance.now();
  const client = await connect(root, { timeoutMs: 300_000 });
  await client.history({ limit: 1 });
  const ms = performance.now() - begun;
  const { pid } = await client.status();
  return { ms, pid, client, stop: () => endDaemon(client) };
}

/** After a moment, so that what the start left behind is gone. */
function memoryOf(pid) {
  const [, kb] = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return kb / 1024;
}

/** Each filter many times, with other words each time. */
export async function measureHistory(client, { live, events }) {
  const month = (number) => `2026-0${1 + (number % 2)}-${10 + (number % 18)}`;
  const back = (part) => `evt-${String(Math.floor(events * part)).padStart(6, '0')}`;
  const filters = {
    none: () => ({}),
    file: (number) => ({ file: pathOf((number * 977) % 10_000) }),
    'folder at the top': (number) => ({ file: `src-${(number * 13) % 100}` }),
    'file that is not there': (number) => ({ file: `nowhere/${number}` }),
    author: (number) => ({ author: ['claude', 'agent:codex', 'smithyd'][number % 3] }),
    'author that is not there': () => ({ author: 'nobody' }),
    branch: () => ({ branch: 'session_1' }),
    'action, rare and old': (number) => ({
      action_type: 'dialog',
      before: back(0.9 - number * 0.009),
    }),
    action: () => ({ action_type: 'file_create' }),
    'dialog that is live': (number) => ({ dialog_id: live[number % live.length].id }),
    'dialog deleted long ago': (number) => ({
      dialog_id: `01M7${String(number).padStart(22, '0')}`,
    }),
    'since a time': (number) => ({ since: month(number) }),
    'since a time, author, folder': (number) => ({
      ...{ since: month(number), author: 'aider', file: `src-${number % 100}` },
    }),
    'a page far back': (number) => ({
      before: back(0.001 + number * 0.03),
    }),
  };
  const times = {};
  for (const name of Object.keys(filters)) times[name] = [];
  for (let number = 0; number < ROUNDS; number++) {
    for (const [name, filter] of Object.entries(filters)) {
      const begun = performance.now();
      await client.history({ ...filter(number), limit: 50 });
      times[name].push(performance.now() - begun);
    }
  }
  return times;
}

function describe({ appends, made, first, runs, queries, memory, after, isRaised }) {
  const ms = (value) => `${round(value, 1)} ms`;
  const mb = (value) => `${round(value, 0)} MB`;
  const p50 = { ours: quantile(appends.ledger, 0.5), bare: quantile(appends.bare, 0.5) };
  const starts = Object.fromEntries(
    Object.entries(runs).map(([name, all]) => [
      name,
      quantile(
        all.map((one) => one.ms),
        0.5,
      ),
    ]),
  );
  const longer = (starts.many - starts.few) / 1000;
  const all = Object.values(queries).flat();
  const worst = Object.entries(queries).sort(([, a], [, b]) => Math.max(...b) - Math.max(...a))[0];
  const grown = memory.many - memory.few;
  return [
    table([
      ['what', 'smithyd', 'compared with', 'target', ''],
      [
        'append, durable, p50',
        ms(p50.ours),
        `${ms(p50.bare)} the same bytes appended and flushed`,
        `at most 2 times; is ${round(p50.ours / p50.bare)}`,
        verdict(p50.ours <= 2 * p50.bare),
      ],
      [
        '`history --limit 50`, any filter, p50 / p99',
        `${ms(quantile(all, 0.5))} / ${ms(quantile(all, 0.99))}`,
        `slowest filter: ${worst[0]}, ${ms(Math.max(...worst[1]))} at worst`,
        'p99 at most 50 ms',
        verdict(quantile(all, 0.99) <= 50),
      ],
      [
        'start to the first `history`, median',
        ms(starts.many),
        `${ms(starts.few)} without them`,
        `at most 2 s longer; is ${round(longer)} s`,
        verdict(longer <= 2),
      ],
      [
        'memory after the start',
        mb(memory.many),
        `${mb(memory.few)} without them`,
        `at most 150 MB more; is ${round(grown, 0)}`,
        verdict(grown <= 150),
      ],
      ['memory after the queries', mb(after), '', '', ''],
      ['start with nothing put aside', `${round(first.ms / 1000, 1)} s`, '', '', ''],
    ]),
    '',
    `${made.events.toLocaleString('en')} events in ${mb(made.bytes / 2 ** 20)}; ${all.length} queries with ${Object.keys(queries).length} filters, ${APPENDS} appends, ${STARTS} starts of each in turns${isRaised ? ', with raised priority but for the start with nothing put aside' : ''}.`,
  ];
}
