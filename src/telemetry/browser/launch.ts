import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Environment } from '../../core/environment.js';
import { SmithyError } from '../../core/errors.js';

export interface LaunchOptions {
  readonly program: string;
  readonly environment: Environment;
  readonly isHeadless: boolean;
  readonly isRoot: boolean;
}

export interface Launched {
  readonly port: number;
  readonly ended: Promise<void>;
  /** Waits a moment for it to end by itself, then ends it; its profile goes with it. */
  end(): Promise<void>;
}

const WINDOWLESS = 'chromium-headless-shell';
const BROWSERS = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'chrome',
  'microsoft-edge',
  'brave-browser',
];
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const START_PATIENCE_MS = 30_000;
const END_PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 25;
const MOST_TOLD = 4_000;

/** The browser of this machine; one without windows first where there are none. */
export function findBrowser(path: string, isHeadless: boolean): string {
  const names = isHeadless ? [WINDOWLESS, ...BROWSERS] : BROWSERS;
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  const places = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = [...places, ...ELSEWHERE].find(isProgram);
  if (found !== undefined) return found;
  throw new SmithyError('BROWSER_UNAVAILABLE', 'There is no Chromium or Chrome on PATH.', {
    hint: 'Install one (Debian: apt-get install chromium, or chromium-headless-shell), or use --attach PORT.',
    data: { looked_for: names },
  });
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Starts a browser with a profile of its own, on a port that it picks itself. */
export async function launchBrowser(options: LaunchOptions): Promise<Launched> {
  const profile = mkdtempSync(join(tmpdir(), 'smithyd-browser-'));
  const child = spawn(options.program, flags(options, profile), {
    env: { ...options.environment },
    // Ctrl-C is for us; the browser is ended in good order. It ends by itself when its pipes close:
    // that is how it notices that we were killed.
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-MOST_TOLD)));
  for (const pipe of child.stdio.slice(3)) pipe?.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  const end = async (): Promise<void> => {
    await Promise.race([ended, pause(END_PATIENCE_MS, undefined, { ref: false })]);
    killAll(child);
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    return { port: await portOf(profile, ended), ended, end };
  } catch (cause) {
    killAll(child);
    await end();
    throw new SmithyError('BROWSER_UNAVAILABLE', `${basename(options.program)} did not start.`, {
      hint: lastLine(said) ?? `Try it by hand: ${options.program}`,
      data: { program: options.program },
      cause,
    });
  }
}

function flags({ program, isHeadless, isRoot }: LaunchOptions, profile: string): string[] {
  return [
    '--remote-debugging-port=0',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-quic',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    ...(isHeadless && basename(program) !== WINDOWLESS ? ['--headless=new'] : []),
    // Its sandbox refuses to work for root.
    ...(isRoot ? ['--no-sandbox'] : []),
    'about:blank',
  ];
}

async function portOf(profile: string, ended: Promise<void>): Promise<number> {
  const end = performance.now() + START_PATIENCE_MS;
  const over = new AbortController();
  void ended.then(() => over.abort());
  const isOver = (): boolean => over.signal.aborted;
  for (;;) {
    const port = readPort(join(profile, 'DevToolsActivePort'));
    if (port !== undefined) return port;
    if (isOver()) throw new Error('it ended at once');
    if (performance.now() > end) throw new Error(`it did not listen in ${START_PATIENCE_MS} ms`);
    await pause(LOOK_AGAIN_MS);
  }
}

function readPort(file: string): number | undefined {
  try {
    // The line is whole when the next one has begun.
    const [, port] = /^(\d{1,5})\n/u.exec(readFileSync(file, 'utf8')) ?? [];
    return port === undefined ? undefined : Number(port);
  } catch {
    return undefined;
  }
}

/** It is a group of its own, with all of its helpers. */
function killAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

function lastLine(said: string): string | undefined {
  const line = said.trim().split('\n').at(-1)?.trim();
  return line === undefined || line === '' ? undefined : line;
}
