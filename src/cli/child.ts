import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { isInForeground } from '../host/foreground.js';

/** How a command ended, in the terms of a shell. */
export type Ending =
  | { readonly code: number }
  | { readonly signal: NodeJS.Signals }
  | { readonly failure: string; readonly code: 126 | 127 };

/** Passed on to the command. The second one outside of its life ends us as it ends everybody. */
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
/** Sent by keys to the whole foreground group: the command has them before we do. */
const BY_KEY: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
/** One dump of core, the command's own, is enough. */
const DUMPING: readonly NodeJS.Signals[] = [
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
];
const NOT_FOUND = ['ENOENT', 'ENOTDIR'];

/**
 * Keeps signals from ending this process while there is something to put in order before and after
 * the command.
 */
export class SignalGuard {
  #child: ChildProcess | undefined;
  #held: NodeJS.Signals | undefined;
  readonly #listener = (signal: NodeJS.Signals): void => this.#take(signal);

  constructor() {
    for (const signal of PASSED_ON) process.on(signal, this.#listener);
  }

  /** The signal that came while no command ran. */
  get held(): NodeJS.Signals | undefined {
    return this.#held;
  }

  /** Runs a command with our own input, output and terminal. */
  run(command: string, words: readonly string[]): Promise<Ending> {
    return new Promise((resolve) => {
      const child = spawn(command, words, { stdio: 'inherit' });
      this.#child = child;
      const end = (ending: Ending): void => {
        this.#child = undefined;
        resolve(ending);
      };
      child.once('error', (error) => end(failureOf(command, error)));
      child.once('exit', (code, signal) => end(signal === null ? { code: code ?? 1 } : { signal }));
    });
  }

  release(): void {
    for (const signal of PASSED_ON) process.off(signal, this.#listener);
  }

  #take(signal: NodeJS.Signals): void {
    if (this.#child !== undefined) {
      if (!(BY_KEY.includes(signal) && isInForeground())) this.#child.kill(signal);
      return;
    }
    if (this.#held !== undefined) {
      this.release();
      process.exit(endBy(signal));
    }
    this.#held = signal;
  }
}

/** Ends this process by the signal; answers the exit code that says the same when that is no way. */
export function endBy(signal: NodeJS.Signals): number {
  if (!DUMPING.includes(signal)) process.kill(process.pid, signal);
  return 128 + constants.signals[signal];
}

function failureOf(command: string, error: Error): Ending {
  const code = 'code' in error ? String(error.code) : '';
  if (NOT_FOUND.includes(code)) return { failure: `${command}: command not found`, code: 127 };
  return { failure: `${command}: cannot be run (${code})`, code: 126 };
}
