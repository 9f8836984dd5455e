/** What `checkpoints.mjs` measured, as a section of BENCHMARKS.md with its targets. */
import { measureCheckpoints } from './checkpoints.mjs';
import { quantile, round, verdict } from './numbers.mjs';

const median = (times) => quantile(times, 0.5);
const ms = (value) => `${round(value, value < 20 ? 1 : 0)} ms`;
const seconds = (value) => `${round(value / 1000, 1)} s`;
const megabytes = (bytes) => `${round(bytes / 1e6, bytes < 1e7 ? 1 : 0)} MB`;
const times = (value) => round(value, value < 10 ? 1 : 0);
const count = (value) => value.toLocaleString('en-US');

export async function checkpointSection({ sizes, say }) {
  const { results } = await measureCheckpoints(sizes, say);
  return [
    'Through the socket of the built daemon, durable and with everything before the call taken in; in turns',
    'with git on a folder beside the project (its defaults: nothing flushed; what it packs behind after a',
    'commit is done while nothing is measured). "Store" is the checkpoint',
    'without daemon, barrier and ledger; "floor" the same objects hashed, deflated and flushed in process and',
    'nothing else. Each is asked for when nothing was written for 0.1 s, as a message comes after edits. Medians.',
    '',
    ...table(
      [
        'files',
        'changed',
        'daemon',
        'store',
        'floor',
        '`add -A`, `commit`',
        'the same by simple-git',
        '`write-tree`, `commit-tree`',
      ],
      results.flatMap(checkpointRows),
    ),
    '',
    ...table(
      [
        'files',
        'first: ready',
        'first: `create_dialog`',
        '`add -A`, `commit`',
        'restore of one',
        '`git restore`',
        '`git checkout`',
        'restore of 5,000, saved before',
        'saved on the way',
        'the same files renamed over, bare Node',
        'git: commit, restore',
      ],
      results.map(otherRow),
    ),
    '',
    ...table(
      [
        'files',
        'memory: first',
        'peak',
        'at the end',
        'git children',
        '1,000 checkpoints: p50',
        'p99',
        'disk',
        'compressed changes',
      ],
      results.map(sizeRow),
    ),
    '',
    ...table(['target at the largest tree', 'is', ''], targetRows(results)),
  ];
}

function checkpointRows({ files, checkpoint }) {
  return Object.entries(checkpoint).map(([changed, one]) => [
    count(files),
    changed,
    ...['daemon', 'store', 'floor', 'commit', 'shadow', 'trees'].map((name) =>
      ms(median(one[name])),
    ),
  ]);
}

function otherRow({ files, first, restore, gitRestore, gitCheckout, ...many }) {
  return [
    count(files),
    seconds(first.ready),
    seconds(first.dialog),
    seconds(first.commit),
    ms(median(restore)),
    ms(median(gitRestore)),
    ms(median(gitCheckout)),
    seconds(median(many.largeSaved)),
    seconds(median(many.large)),
    seconds(median(many.largeFloor)),
    seconds(median(many.gitLarge)),
  ];
}

function sizeRow({ files, memory, history }) {
  return [
    count(files),
    megabytes(memory.first.daemon),
    megabytes(memory.end.peak),
    megabytes(memory.end.daemon),
    megabytes(memory.end.children),
    ms(history.p50),
    ms(history.p99),
    megabytes(history.added),
    megabytes(history.compressed),
  ];
}

function targetRows(results) {
  const last = results.at(-1);
  const one = last.checkpoint[1];
  const smallest = median(results[0].checkpoint[1].daemon);
  const faster = median(one.commit) / median(one.daemon);
  const floor = median(one.store) / median(one.floor);
  const flat = median(one.daemon) / smallest;
  const restore = median(last.gitRestore) / median(last.restore);
  const first = last.first.ready + last.first.dialog;
  const disk = last.history.added / last.history.compressed;
  const large = median(last.largeSaved);
  return [
    [
      'one changed file at least 100 times faster than `add -A`, `commit`',
      `${times(faster)} times`,
      verdict(faster >= 100),
    ],
    [
      'the same as Cline, Roo and Gemini CLI run it, by simple-git',
      `${times(median(one.shadow) / median(one.daemon))} times`,
      '',
    ],
    ['store within 2 times of the floor', `${times(floor)} times`, verdict(floor <= 2)],
    [
      `within 1.5 times of the cost at ${count(results[0].files)} files`,
      `${times(flat)} times`,
      verdict(flat <= 1.5),
    ],
    [
      'restore of one file at least 30 times faster than `git restore`',
      `${times(restore)} times`,
      verdict(restore >= 30),
    ],
    [
      'first checkpoint, start included, before `add -A`, `commit`',
      `${seconds(first)} against ${seconds(last.first.commit)}`,
      verdict(first < last.first.commit),
    ],
    [
      '1,000 checkpoints of 1 to 10 files below 3 times their compressed changes',
      `${times(disk)} times`,
      verdict(disk < 3),
    ],
    [
      '5,000 changed files taken back in under 2 s',
      `${seconds(large)}, bare renames ${seconds(median(last.largeFloor))}`,
      verdict(large < 2000),
    ],
  ];
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
}
