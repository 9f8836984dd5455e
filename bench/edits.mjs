/**
 * The edit protocol through the daemon's socket: one bracket (start_edit, a write, finalize_edit,
 * all durable) on a small and a large project in turns, many agents at once, and how soon a change
 * that nobody announced is published. Against the least it can cost: the same bytes appended to
 * files of their own and flushed twice, as start and end both have to. Needs a build.
 */
import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { appendFileSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../dist/index.js';
import { endDaemon } from './daemon-end.mjs';
import { quantile, round, verdict } from './numbers.mjs';
import { table } from './section.mjs';
import { contentOf, makeTree, pathOf } from './source-tree.mjs';

const SIZES = [500, 100_000];
const BRACKETS = 300;
const AGENTS = 20;
const AGENT_BRACKETS = 60;
const OUTSIDE = 100;

export async function editSection({ sizes = SIZES, say = () => undefined } = {}) {
  const base = mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-bench-'));
  const subjects = [];
  try {
    for (const files of sizes) {
      say(`${files} files: first checkpoint`);
      subjects.push(await createSubject(join(base, String(files)), files));
    }
    say('brackets, in turns');
    const floor = createFloor(join(base, 'floor'));
    for (let at = 0; at < BRACKETS; at++) {
      for (const subject of subjects) await subject.bracket(at);
      floor.round(at);
    }
    floor.close();
    say(`${AGENTS} agents at once`);
    for (const subject of subjects) {
      // What they do behind their answers is theirs alone: the other one is measured without it.
      for (const other of subjects) await other.calm();
      await subject.manyAgents();
    }
    for (const subject of subjects) await subject.calm();
    say('changes that nobody announces');
    for (const subject of subjects) await subject.outside();
    return describe(subjects, floor.times);
  } finally {
    for (const subject of subjects) await subject.end();
    rmSync(base, { recursive: true, force: true, maxRetries: 50 });
  }
}

async function createSubject(root, files) {
  makeTree(root, files);
  const client = await connect(root, { timeoutMs: 600_000 });
  await client.create_dialog({ title: 'bench' });
  const times = [];
  let version = 0;
  let rate = 0;
  const latencies = [];

  async function bracketOf(by, number) {
    const path = pathOf(number);
    const { edit_id: id } = await by.start_edit({ files: [path], agent: { name: 'bench' } });
    writeFileSync(join(root, path), contentOf(number, ++version));
    await by.finalize_edit({ edit_id: id });
  }

  return {
    files,
    times,
    latencies,
    rate: () => rate,
    async bracket(at) {
      const begun = performance.now();
      await bracketOf(client, (at * 37) % files);
      times.push(performance.now() - begun);
    },
    /** Until it has used no time for three seconds: patches, blocks and snapshots are made. */
    async calm() {
      const { pid } = await client.status({});
      for (let before = ticksOf(pid), still = 0; still < 3;) {
        await pause(1_000);
        const now = ticksOf(pid);
        still = now - before <= 1 ? still + 1 : 0;
        before = now;
      }
    },
    async manyAgents() {
      const agents = [];
      for (let number = 0; number < AGENTS; number++) agents.push(await connect(root));
      const begun = performance.now();
      await Promise.all(
        agents.map(async (agent, number) => {
          for (let at = 0; at < AGENT_BRACKETS; at++)
            await bracketOf(agent, number * 20 + (at % 20));
        }),
      );
      rate = (AGENTS * AGENT_BRACKETS) / ((performance.now() - begun) / 1000);
      for (const agent of agents) await agent.close();
    },
    async outside() {
      let heard = () => undefined;
      const stop = await client.subscribe({ types: ['unknown_change'] }, () => heard());
      for (let at = 0; at < OUTSIDE; at++) {
        const told = new Promise((resolve) => (heard = resolve));
        const begun = performance.now();
        appendFileSync(join(root, pathOf((at * 41) % files)), `// ${at}\n`);
        await told;
        latencies.push(performance.now() - begun);
      }
      await stop();
    },
    end: () => endDaemon(client),
  };
}

/** User and system time of a process, in hundredths of a second. */
function ticksOf(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .split(') ')[1]
    .split(' ')
    .slice(11);
  return Number(user) + Number(system);
}

/** Two flushed appends, as many bytes as an ordinary file and its ledger lines. */
function createFloor(path) {
  const files = [openSync(`${path}-1`, 'w'), openSync(`${path}-2`, 'w')];
  const times = [];
  return {
    times,
    round(at) {
      const begun = performance.now();
      for (const file of files) {
        writeSync(file, contentOf(at, 1));
        fdatasyncSync(file);
      }
      times.push(performance.now() - begun);
    },
    close: () => files.forEach((file) => closeSync(file)),
  };
}

function describe(subjects, floor) {
  const ms = (value) => `${round(value, 1)} ms`;
  const last = subjects.at(-1);
  const first = subjects[0];
  const p50 = (subject) => quantile(subject.times, 0.5);
  const name = (files) => `${files.toLocaleString('en')} files`;
  const growth = p50(last) / p50(first);
  const p99 = quantile(last.times, 0.99);
  const late = quantile(last.latencies, 0.99);
  return [
    table([
      ['what', ...subjects.map(({ files }) => name(files)), `target at ${name(last.files)}`, ''],
      [
        'bracket, durable, p50',
        ...subjects.map((subject) => ms(p50(subject))),
        'at most 8 ms',
        verdict(p50(last) <= 8),
      ],
      [
        'bracket, p99',
        ...subjects.map(({ times }) => ms(quantile(times, 0.99))),
        'at most 40 ms',
        verdict(p99 <= 40),
      ],
      [
        'against the small project',
        ...subjects.map((subject) => `${round(p50(subject) / p50(first))} times`),
        'at most 1.3 times',
        verdict(growth <= 1.3),
      ],
      [
        'against two flushed appends of the same bytes, p50',
        ...subjects.map((subject) => `${round(p50(subject) / quantile(floor, 0.5), 1)} times`),
        `(${ms(quantile(floor, 0.5))})`,
        '',
      ],
      [
        `${AGENTS} agents on files of their own`,
        ...subjects.map((subject) => `${round(subject.rate(), 0)} a second`),
        'at least 400 a second',
        verdict(last.rate() >= 400),
      ],
      [
        'unannounced change to its event, p50 / p99',
        ...subjects.map(({ latencies }) => {
          return `${ms(quantile(latencies, 0.5))} / ${ms(quantile(latencies, 0.99))}`;
        }),
        'p99 at most 100 ms',
        verdict(late <= 100),
      ],
    ]),
    '',
    `${BRACKETS} brackets on each project in turns; ${AGENTS * AGENT_BRACKETS} by the agents; ${OUTSIDE} changes from outside.`,
  ];
}
