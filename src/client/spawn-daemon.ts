import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { safeEnvironment, type Environment } from '../core/environment.js';
import type { WireError } from '../core/errors.js';
import { packageFile } from '../core/package-file.js';

/** What a starting daemon tells the one who started it, as one line on descriptor 3. */
type Report = { readonly ready: true } | { readonly error: WireError };

/**
 * The memory reducer would wake an idle daemon; set later, as a foreground daemon does, it comes too
 * late for the first time. A large young generation held 60 MB more at 100,000 files, for nothing.
 * A daemon is asked now and then, so most of its code is never hot: compiled at its first call it
 * answers the first twenty checkpoints in 6.9 ms where interpreting takes 8.4, for 20 ms at the start.
 */
const V8_FLAGS = ['--no-memory-reducer', '--max-semi-space-size=8', '--always-sparkplug'];

interface SpawnOptions {
  readonly root: string;
  readonly force?: boolean;
  readonly rebind?: boolean;
}

/** Starts a daemon of its own session; answers what it reports, nothing when it died before. */
export async function spawnDaemon(
  { root, force, rebind }: SpawnOptions,
  from: Environment,
): Promise<Report | undefined> {
  const entry = fileURLToPath(packageFile('dist/cli/main.js'));
  const flags = [
    'start',
    '--foreground',
    '--report',
    '--root',
    root,
    ...(force ? ['--force'] : []),
    ...(rebind ? ['--rebind'] : []),
  ];
  const nothing = openSync(devNull, 'r+');
  const child = spawn(process.execPath, [...V8_FLAGS, entry, ...flags], {
    cwd: '/',
    detached: true,
    env: safeEnvironment(from, root),
    stdio: [nothing, nothing, nothing, 'pipe'],
  });
  closeSync(nothing);
  const pipe = child.stdio[3];
  let text = '';
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    pipe?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve();
    });
    pipe?.once('end', resolve);
    pipe?.once('error', () => resolve());
  });
  pipe?.destroy();
  child.unref();
  const [line] = text.split('\n');
  return line === undefined || line === '' ? undefined : (JSON.parse(line) as Report);
}
