import { once } from 'node:events';
import type { StoreCheck } from '../core/store.js';
import { damagedFiles, type DamagedDeps } from './damaged.js';
import { closed } from './failures.js';
import type { Layout } from './layout.js';
import type { Packs } from './packs.js';
import { allTips } from './prune.js';
import type { Git } from './run.js';

export interface CheckDeps {
  readonly git: Git;
  readonly layout: Layout;
  readonly packs: Pick<Packs, 'names'>;
  /** Resolves when no pack is being rolled up. */
  readonly isQuiet: () => Promise<unknown>;
  readonly has: DamagedDeps['has'];
}

type Progress = (percent: number) => void;

/** One check at a time: who asks meanwhile gets the same answer. */
export function createChecks({ git, layout, packs, isQuiet, has }: CheckDeps) {
  let running: { readonly done: Promise<StoreCheck>; readonly stop: AbortController } | undefined;

  async function run(onProgress: Progress, signal: AbortSignal): Promise<StoreCheck> {
    for (let attempt = 1; ; attempt++) {
      await isQuiet();
      const before = packs.names();
      const tips = [...(await allTips(layout))];
      const problems = await checkObjects(git, { tips, onProgress, signal });
      const found = { problems, ...(await damagedFiles({ layout, has, signal })) };
      // A pack that was rolled up or pruned while git read it looks like a missing one.
      const isSteady = before.every((name) => packs.names().includes(name));
      if (found.problems.length === 0 || isSteady || attempt === MOST_ATTEMPTS) return found;
    }
  }

  return {
    check(onProgress: Progress): Promise<StoreCheck> {
      if (running !== undefined) return running.done;
      const stop = new AbortController();
      const done = run(onProgress, stop.signal)
        .catch((error: unknown) => {
          throw stop.signal.aborted ? closed() : error;
        })
        .finally(() => (running = undefined));
      running = { done, stop };
      return done;
    },
    async stop(): Promise<void> {
      running?.stop.abort();
      await running?.done.catch(() => undefined);
    },
  };
}

interface CheckOptions {
  readonly tips: readonly string[];
  readonly onProgress: Progress;
  /** Kills the command, and ends the check. */
  readonly signal: AbortSignal;
}

const MOST_ATTEMPTS = 3;
/** Enough to see what is wrong; a broken disk would fill memory. */
const MOST_PROBLEMS = 20;
const LONGEST_LINE = 500;
/** Beyond the size of any store we allow; then something hangs. */
const DEADLINE_MS = 9 * 60_000;
/** The longest command line that every system takes. */
const MOST_TIPS = 2_000;
const NOISE = /^(notice: |dangling |Checking |$)/u;

/** Asks git about every object in the store, and whether all that the branches need is there. */
async function checkObjects(git: Git, options: CheckOptions): Promise<string[]> {
  const { tips, onProgress, signal } = options;
  const problems: string[] = [];
  for (let from = 0; from === 0 || from < tips.length; from += MOST_TIPS) {
    signal.throwIfAborted();
    // Objects are read once; of the other branches only the links are left to follow.
    const depth = from === 0 ? [] : ['--connectivity-only'];
    const flags = ['--strict', '--no-dangling', '--no-reflogs', '--progress', ...depth];
    const child = git.start(['fsck', ...flags, ...tips.slice(from, from + MOST_TIPS)]);
    const stop = (): void => void child.kill('SIGKILL');
    const timer = setTimeout(stop, DEADLINE_MS);
    signal.addEventListener('abort', stop, { once: true });
    const take = (line: string): void => {
      const percent = /^Checking objects: +(\d+)%/u.exec(line)?.[1];
      if (percent !== undefined) onProgress(Number(percent));
      else if (!NOISE.test(line) && problems.length < MOST_PROBLEMS) problems.push(line);
    };
    eachLine(child.stdout, take);
    eachLine(child.stderr, take);
    child.stdin.on('error', () => undefined).end();
    const [status, killed] = (await once(child, 'close')) as [number | null, string | null];
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    if (killed !== null) problems.push('git fsck did not come to an end');
    else if (status !== 0 && problems.length === 0) problems.push(`git fsck ended with ${status}`);
  }
  return problems;
}

/** Progress ends with a carriage return, everything else with a newline. */
function eachLine(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let rest = '';
  stream.on('data', (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split(/[\r\n]/u);
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE);
    for (const line of lines) take(line.slice(0, LONGEST_LINE));
  });
  stream.on('end', () => take(rest));
}
