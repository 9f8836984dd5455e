/**
 * A day of a noisy page, as fast as it goes: ten things a second for 24 hours, told in batches, while
 * several clients ask now and then and marks come and go. What the daemon needs in the first half is
 * compared with what it needs in the second; ends with 1 when it grew by more than it may.
 *
 * Usage: node scripts/build.mjs && node scripts/noisy-day.mjs [--hours 24] [--rate 10] [--megabytes 30]
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startDaemon } from '../test/support/daemon-process.mjs';

const MB = 1024 * 1024;
/** As a browser that is listened to sends them: what came in five seconds, at most. */
const BATCH_SECONDS = 5;
const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '24' },
    rate: { type: 'string', default: '10' },
    megabytes: { type: 'string', default: '30' },
  },
});
const [hours, rate, allowed] = [values.hours, values.rate, values.megabytes].map(Number);
const root = realpathSync(mkdtempSync(join(tmpdir(), 'smithyd-noisy-')));

/** Ids, times and counters differ all the time; every thousandth message is one nobody has seen. */
function told(number) {
  const kind = number % 10;
  const id = `${number.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const url = `http://localhost:3000/api/${number % 400}?page=${number}`;
  if (kind < 5) {
    const level = ['log', 'debug', 'warning', 'error', 'info'][kind];
    const fresh = number % 1_000 < 10 ? ` in part ${number.toString(26)}` : '';
    return [
      'console',
      {
        level,
        message: `Order ${number} of ${id} is late${fresh}`,
        source: `app.js:${number % 900}`,
      },
    ];
  }
  if (kind < 8) {
    return [
      'network',
      { url, method: 'GET', status: number % 97 === 0 ? 500 : 200, duration_ms: number % 300 },
    ];
  }
  if (kind < 9) {
    const event = ['message', 'message', 'open', 'close', 'error'][Math.floor(number / 10) % 5];
    return ['websocket', { event, url: 'ws://localhost:3000/live', id, message: `tick ${number}` }];
  }
  return ['actions', { type: 'click', url: 'http://localhost:3000/', target: `#button-${number}` }];
}

function batch(from, count) {
  const all = { console: [], network: [], websocket: [], actions: [] };
  for (let number = from; number < from + count; number++) {
    const [stream, entry] = told(number);
    all[stream].push(entry);
  }
  return all;
}

const daemon = await startDaemon({
  root,
  cli: fileURLToPath(new URL('../dist/cli/main.js', import.meta.url)),
  env: { PATH: process.env.PATH, HOME: process.env.HOME },
});
try {
  const socket = await daemon.open();
  const total = hours * 3600 * rate;
  const each = BATCH_SECONDS * rate;
  const batches = Math.max(20, Math.ceil(total / each));
  const memory = [];
  const begun = performance.now();
  for (let number = 0; number < batches; number++) {
    await socket.must('push_telemetry', batch(number * each, each));
    if (number % 50 === 0) {
      writeFileSync(join(root, `file-${number % 7}.txt`), `${number}\n`);
      await socket.must('get_changes_since', { client: `client-${number % 300}` });
    }
    if (number % 1_000 === 0) await socket.must('mark', { name: nameOf(number / 1_000) });
    if (number % Math.ceil(batches / 20) === 0) {
      const { memory_bytes: bytes } = await socket.must('status');
      memory.push(bytes / MB);
    }
  }
  const { memory_bytes: last } = await socket.must('status');
  memory.push(last / MB);
  const half = Math.floor(memory.length / 2);
  const [early, late] = [memory.slice(0, half), memory.slice(half)].map((all) => Math.max(...all));
  const grown = late - early;
  const seconds = (performance.now() - begun) / 1000;
  console.log(`every twentieth of the day, MB: ${memory.map((one) => one.toFixed(0)).join(' ')}`);
  console.log(
    `${batches * each} things told in ${seconds.toFixed(0)} s; memory at most ${early.toFixed(0)} MB in the first half, ` +
      `${late.toFixed(0)} MB in the second: ${grown.toFixed(0)} MB more (may be ${allowed})`,
  );
  if (grown > allowed) process.exitCode = 1;
  socket.destroy();
} finally {
  await daemon.stop('SIGTERM');
  rmSync(root, { recursive: true, force: true });
}

/** No digits and no times: a name that may be. */
function nameOf(number) {
  return `noisy_${[...String(number)].map((digit) => 'abcdefghij'[digit]).join('')}`;
}
