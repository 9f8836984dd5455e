import { spawn } from 'node:child_process';
import { afterEach } from '@jest/globals';
import { CLI } from './daemon-project.js';
import { plainEnvironment, signal } from './processes.js';
import { soon, until } from './until.js';

/** `smithyd browser`, running. */
export interface Listening {
  readonly pid: number;
  /** Everything it has printed so far. */
  text(): string;
  says(words: string | RegExp): Promise<void>;
  /** Its exit code. */
  end(how?: NodeJS.Signals): Promise<number | null>;
  readonly ended: Promise<number | null>;
}

export function startListening(root: string, args: readonly string[]): Listening {
  const line = [CLI, '--root', root, 'browser', ...args];
  const child = spawn(process.execPath, line, { env: plainEnvironment() });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const pid = child.pid ?? 0;
  return {
    pid,
    ended,
    text: () => text,
    async says(words) {
      const isSaid = () => (typeof words === 'string' ? text.includes(words) : words.test(text));
      await until(`it says ${String(words)}`, isSaid).catch((error: unknown) => {
        throw new Error(`${String(error)}, only: ${text}`);
      });
    },
    async end(how = 'SIGTERM') {
      signal(pid, how);
      return soon('the end of smithyd browser', ended);
    },
  };
}

/** Whatever a test left running ends with it. */
export function endingPerTest(): (end: () => Promise<unknown>) => void {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return (end) => ends.push(end);
}
