/**
 * Starts and stops a daemon many times and compares what is left after the first and the last:
 * `node scripts/many-starts.mjs [TIMES] [FOLDER] [NAME]`. Fails when a process, socket or file stayed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [times = '100', folder = '', name = ''] = process.argv.slice(2);
const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const base = folder === '' ? mkdtempSync(join(realpathSync(tmpdir()), 'smithyd-many-')) : folder;
const root = join(base, name);
const moved = join(base, 'runtime');
mkdirSync(root, { recursive: true });
// Moved sockets go here, where nobody else's can be mistaken for ours.
mkdirSync(moved, { mode: 0o700 });

function smithyd(command) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [CLI, '--root', root, '--json', command],
    {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_RUNTIME_DIR: moved },
      timeout: 60_000,
    },
  );
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

function isRunning(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(root);
  } catch {
    return false;
  }
}

const listing = () => readdirSync(base, { recursive: true }).map(String).sort().join('\n');

const pids = [];
let first;
for (let time = 0; time < Number(times); time++) {
  const { pid, started } = smithyd('start');
  if (!started) throw new Error(`start ${time + 1} found process ${pid}`);
  pids.push(pid);
  const { stopped } = smithyd('stop');
  if (!stopped) throw new Error(`stop ${time + 1} found nothing to stop`);
  first ??= listing();
}
const alive = pids.slice(0, -1).filter(isRunning);
if (alive.length > 0) throw new Error(`still running: ${alive.join(', ')}`);
if (listing() !== first)
  throw new Error(`left behind:\n${listing()}\nafter the first stop:\n${first}`);
if (new Set(pids).size !== pids.length) throw new Error('a process number came twice');
if (folder === '') rmSync(base, { recursive: true, force: true });
console.log(`${times} starts and stops left nothing behind but the state`);
