import { once } from 'node:events';
import { join } from 'node:path';
import { gitFailure } from './failures.js';
import type { Layout } from './layout.js';
import type { Git } from './run.js';

export interface TransferDeps {
  readonly git: Git;
  readonly layout: Layout;
}

interface Wanted {
  /** Another repository's objects; only read, through our own git folder. */
  readonly objects: string;
  /** `--revs` when the names are commits and everything they reach is meant. */
  readonly flags?: readonly string[];
  readonly names: Iterable<string>;
}

/** Copies objects into the store as one pack, checked on the way, and names the pack. */
export async function transfer({ git, layout }: TransferDeps, wanted: Wanted): Promise<string> {
  const { objects, flags = [], names } = wanted;
  const from = git.start(['pack-objects', '-q', '--stdout', '--window=0', ...flags], { objects });
  const into = startBeside(git, from);
  from.stdout.pipe(into.stdin);
  from.stdin.end([...names].map((name) => `${name}\n`).join(''));
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);
  const sent = outcome(from, 'pack-objects', false).catch(note);
  // Without a reader the first one would wait for ever.
  const taken = outcome(into, 'index-pack').finally(() => from.stdout.destroy());
  const [output] = await Promise.all([taken.catch(note), sent]);
  // One that fails takes the other with it: only the first knows why.
  if (failures.length > 0) throw failures[0];
  const name = /[0-9a-f]{40}/u.exec(output ?? '')?.[0];
  if (name === undefined) throw gitFailure('index-pack', output ?? '');
  return join(layout.packs, `pack-${name}.pack`);
}

/** The one that takes; when it cannot be started, the one that gives must not wait for it. */
function startBeside(git: Git, from: ReturnType<Git['start']>): ReturnType<Git['start']> {
  try {
    return git.start(['index-pack', '--stdin', '--strict']);
  } catch (error) {
    from.on('error', () => undefined).kill('SIGKILL');
    throw error;
  }
}

/** What a child that ends says; its output stays unread when another child takes it. */
export async function outcome(
  child: ReturnType<Git['start']>,
  name: string,
  isGathered = true,
): Promise<string> {
  let stdout = '';
  let stderr = '';
  if (isGathered) child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-4096)));
  child.stdin.on('error', () => undefined);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw gitFailure(name, stderr);
  return stdout;
}
