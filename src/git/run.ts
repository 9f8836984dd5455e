import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { SmithyError } from '../core/errors.js';
import { gitFailure } from './failures.js';

/**
 * Where every git of the store is started; rules and hooks ask the user's own with `execFile`. Every child gets the same treatment: an absolute program, an
 * environment that contains nothing but what is listed here, an explicit git folder whose
 * configuration we wrote ourselves, and no configuration of the user or the machine.
 */
export interface GitOptions {
  /** Absolute, found outside the project. */
  readonly program: string;
  /** Allow-listed already; anything that concerns git is dropped again here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Our own git folder without a work tree. */
  readonly gitDir: string;
  readonly objects: string;
}

interface Place {
  /** Another git folder of ours, or another set of objects to read. */
  readonly gitDir?: string;
  readonly objects?: string;
}

interface StartOptions extends Place {
  /** On top of what every child gets. */
  readonly extra?: Readonly<Record<string, string>>;
}

interface TextOptions extends Place {
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Kills the command. */
  readonly signal?: AbortSignal;
}

export interface Git {
  /** Runs one command to its end and gives its output as text. */
  text(args: readonly string[], options?: TextOptions): Promise<string>;
  /** Starts a child that lives on its stdin. */
  start(args: readonly string[], options?: StartOptions): ChildProcessWithoutNullStreams;
}

/** Without any output for this long a command hangs. */
const SILENCE_MS = 120_000;
const NOTHING = process.platform === 'win32' ? 'NUL' : '/dev/null';
/** Both ends of stdin, stdout and stderr. */
const PIPE_ENDS = 6;

export function createGit(options: GitOptions): Git {
  function environment(place: Place): Record<string, string> {
    const plain = Object.entries(options.environment).filter(([name]) => !/^git_/iu.test(name));
    return {
      ...Object.fromEntries(plain),
      LC_ALL: 'C',
      GIT_DIR: place.gitDir ?? options.gitDir,
      GIT_OBJECT_DIRECTORY: place.objects ?? options.objects,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: NOTHING,
      GIT_ATTR_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_TERMINAL_PROMPT: '0',
      // A missing object is an error; nothing is ever fetched for it.
      GIT_ALLOW_PROTOCOL: 'none',
      GIT_NO_LAZY_FETCH: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
    };
  }

  return {
    async text(args, { input, timeoutMs = SILENCE_MS, signal, ...place } = {}) {
      requirePipes(args);
      // Not needed before the first such command, and slow to load.
      const { simpleGit } = await import('simple-git');
      const env = environment(place);
      const git = simpleGit({
        baseDir: options.gitDir,
        binary: options.program,
        // The guard of simple-git is for programs that pass on what a user typed. Here every
        // variable is written above, and the empty global configuration is the point of it.
        allowEnvironment: Object.keys(env).filter((name) => name.startsWith('GIT_')),
        unsafe: { allowUnsafeConfigPaths: true, allowUnsafeCustomBinary: true },
        timeout: { block: timeoutMs },
        completion: { onClose: true, onExit: false },
        ...(input === undefined ? {} : { input: () => input }),
        ...(signal === undefined ? {} : { abort: signal }),
      });
      try {
        return await git.env(env).raw([...args]);
      } catch (error) {
        const { message = '' } = Object(error) as { message?: string };
        throw gitFailure(args[0] ?? '', message, error);
      }
    },

    // simple-git gathers the output of a command that ends. A child that answers question by
    // question, and bytes that are not text, need the plain pipes.
    start(args, { extra = {}, ...place } = {}) {
      const child: ChildProcess = spawn(options.program, [...args], {
        cwd: options.gitDir,
        env: { ...environment(place), ...extra },
        stdio: 'pipe',
        windowsHide: true,
      });
      if (hasPipes(child)) return child;
      // Told once more in a moment, when nobody has got the child to listen.
      child.on('error', () => undefined);
      throw noDescriptors(args);
    },
  };
}

/** Without descriptors Node gives a child that has none of the three, and never ran. */
function hasPipes(child: ChildProcess): child is ChildProcessWithoutNullStreams {
  return (child.stdin as Writable | null | undefined) !== undefined;
}

/** simple-git takes the three for granted; the error that it then does not hear ends the process. */
function requirePipes(args: readonly string[]): void {
  const opened: number[] = [];
  try {
    while (opened.length < PIPE_ENDS) opened.push(openSync(NOTHING, 'r'));
  } catch (error) {
    throw noDescriptors(args, error);
  } finally {
    for (const file of opened) closeSync(file);
  }
}

function noDescriptors(args: readonly string[], cause?: unknown): SmithyError {
  return gitFailure(args[0] ?? '', 'Too many open files', cause);
}
