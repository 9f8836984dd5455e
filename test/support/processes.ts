import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { soon, until } from './until.js';

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Runs a program to its end. It never inherits our own output. */
export async function run(
  command: readonly string[],
  { env = {}, input = '', cwd = '/' }: RunOptions = {},
): Promise<Outcome> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: plainEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<Outcome>((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString('utf8');
      resolve({ code, stdout: text(stdout), stderr: text(stderr) });
    });
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  try {
    return await soon(`the end of ${command.join(' ')}`, ended);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Nothing of the test runner's own environment but what every program needs. */
export function plainEnvironment(
  extra: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const { PATH, HOME, TMPDIR } = process.env;
  const merged = Object.entries({ PATH, HOME, TMPDIR, ...extra });
  return Object.fromEntries(
    merged.filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** Processes that name the folder as one of their arguments. */
export function processesOf(root: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => argumentsOf(pid).includes(root));
}

export function argumentsOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** True until the process has ended; one that only waits to be collected has. */
export function isAlive(pid: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/exe`);
    return true;
  } catch {
    return false;
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended on its own.
  }
}

/** Ends every process of the folder, kindly first, and makes sure that none is left. */
export async function endProcessesOf(root: string): Promise<void> {
  for (const pid of processesOf(root)) {
    signal(pid, 'SIGCONT');
    signal(pid, 'SIGTERM');
  }
  try {
    await until(`no process of ${root} is left`, () => processesOf(root).length === 0, 20_000);
  } catch (error) {
    for (const pid of processesOf(root)) signal(pid, 'SIGKILL');
    await until(`none is left after SIGKILL`, () => processesOf(root).length === 0);
    throw error;
  }
}
