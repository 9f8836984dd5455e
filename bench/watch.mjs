/**
 * The watcher against chokidar and Watchman, on trees of 10,000 and 100,000 files, in one run: in
 * turns, three rounds, medians. A round is a cold and a warm start of ours and one of each other.
 * Usage: node scripts/build.mjs && node bench/watch.mjs [--idle] [sizes...]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile, round, verdict } from './numbers.mjs';
import { table } from './section.mjs';
import { makeTree } from './watch-tree.mjs';
import { watchmanVersion } from './watch-watchman.mjs';

const SUBJECT = fileURLToPath(new URL('./watch-subject.mjs', import.meta.url));
// As the daemon is started: without them V8 collects for minutes in an idle process.
const FLAGS = ['--no-memory-reducer', '--max-semi-space-size=8'];
const ROUNDS = 3;

function measure(subject, root, mode) {
  const args = [...FLAGS, SUBJECT, subject, root, ...(mode === undefined ? [] : [mode])];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

/** Everything about one size: per subject, a list of what each round measured. */
function measureSize(files, { idle }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-bench-')));
  const forget = () => rmSync(`${root}/.agentsmithy`, { recursive: true, force: true });
  const found = { cold: [], warm: [], chokidar: [], watchman: [] };
  try {
    makeTree(root, files);
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      forget();
      found.cold.push(measure('smithyd', root, 'ready'));
      found.warm.push(measure('smithyd', root, idle && turn === 0 ? 'idle' : undefined));
      forget();
      found.chokidar.push(measure('chokidar', root));
      if (watchmanVersion() !== undefined) found.watchman.push(measure('watchman', root));
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return found;
}

const median = (list, of) => (list.length === 0 ? undefined : quantile(list.map(of), 0.5));
const show = (value, unit, digits) =>
  value === undefined ? 'not installed' : `${round(value, digits)} ${unit}`;

/** Ours, theirs and the verdict, line by line. */
function rowsFor(files, { cold, warm, chokidar, watchman }) {
  const isLarge = files >= 100_000;
  const line = (what, unit, { ours, theirs, digits = 0, least = Infinity }) => {
    const [mine, chok, wm] = [ours, median(chokidar, theirs), median(watchman, theirs)];
    const limit = isLarge && least !== Infinity ? `at most ${least} ${unit}, ` : '';
    return [
      what,
      show(mine, unit, digits),
      show(chok, unit, digits),
      show(wm, unit, digits),
      // The targets are for the large tree; the small one is there to be compared.
      isLarge ? `${limit}ahead of chokidar` : '-',
      isLarge ? verdict(mine <= least && mine <= chok) : '',
    ];
  };
  const ready = ({ ready_s }) => ready_s;
  const p50 = ({ change }) => change.p50_ms;
  const p99 = ({ change }) => change.p99_ms;
  const missed = ({ burst }) => burst.missed;
  const held = Math.max(...cold.map((one) => one.longest_block_ms));
  return [
    line('ready, cold; ours with all content known', 's', {
      ...{ ours: median(cold, ready), theirs: ready, digits: 2, least: 5 },
    }),
    line('ready, warm', 's', {
      ...{ ours: median(warm, ready), theirs: ready, digits: 2, least: 1.5 },
    }),
    line('memory when ready', 'MB', {
      ...{ ours: median(cold, (one) => one.rss_mb), theirs: (one) => one.rss_mb, least: 200 },
    }),
    line('change to known content (theirs: to the bare event), p50', 'ms', {
      ...{ ours: median(warm, p50), theirs: p50, digits: 2 },
    }),
    line('the same, p99', 'ms', { ours: median(warm, p99), theirs: p99, digits: 1, least: 50 }),
    line('burst of 5,000 creates, renames and deep folders: missed', 'files', {
      ...{ ours: Math.max(...warm.map(missed)), theirs: missed, least: 0 },
    }),
    [
      'longest time the loop was held while starting',
      show(held, 'ms', 0),
      show(
        median(chokidar, (one) => one.longest_block_ms),
        'ms',
        0,
      ),
      '-',
      'at most 50 ms',
      verdict(held <= 50),
    ],
    [
      'barrier when idle, p50 / p99',
      `${median(warm, (one) => one.settle.p50_ms)} / ${median(warm, (one) => one.settle.p99_ms)} ms`,
      'has none',
      watchman.length === 0
        ? 'not installed'
        : `${median(watchman, (one) => one.settle.p50_ms)} / ${median(watchman, (one) => one.settle.p99_ms)} ms`,
      '-',
      '',
    ],
  ];
}

export function benchWatch({ sizes = [10_000, 100_000], idle = false } = {}) {
  const watchman = watchmanVersion() ?? 'is not installed here (Debian package `watchman`)';
  const lines = [
    `In turns, ${ROUNDS} rounds, medians (burst and hold: the worst); Watchman ${watchman}.`,
  ];
  for (const files of sizes) {
    const found = measureSize(files, { idle });
    const heading = ['what', 'smithyd', 'chokidar 6', 'Watchman', 'target', ''];
    lines.push('', `${files.toLocaleString('en')} files:`, '');
    lines.push(table([heading, ...rowsFor(files, found)]));
    const ticks = found.warm[0].idle_cpu_ticks_in_60_s;
    if (ticks !== undefined) lines.push('', `Idle for 60 s: ${ticks} ticks of 10 ms.`);
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = process.argv.slice(2);
  const sizes = options.filter((option) => /^\d+$/u.test(option)).map(Number);
  const lines = benchWatch({
    idle: options.includes('--idle'),
    ...(sizes.length > 0 ? { sizes } : {}),
  });
  console.log(lines.join('\n'));
}
