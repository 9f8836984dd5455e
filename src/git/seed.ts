import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Hash } from '../core/model.js';
import { gitFailure } from './failures.js';
import type { Layout } from './layout.js';
import { requireId } from './names.js';
import type { Git } from './run.js';

export interface SeedDeps {
  readonly git: Git;
  readonly layout: Layout;
}

/**
 * Copies blobs out of the user's repository. Only its objects are read, through our own git
 * folder: its configuration, hooks and refs play no part, and nothing is written there. Objects
 * are copied and not borrowed, because a garbage collection over there must not hurt us.
 */
export async function seed(deps: SeedDeps, gitDir: string, hashes: readonly Hash[]) {
  const objects = join(gitDir, 'objects');
  const isThere = await stat(objects).then(
    (one) => one.isDirectory(),
    () => false,
  );
  const found = isThere ? await present(deps.git, objects, hashes) : new Set<Hash>();
  if (found.size === 0) return { found, packs: [] };
  const from = deps.git.start(['pack-objects', '-q', '--stdout', '--window=0'], { objects });
  const into = deps.git.start(['index-pack', '--stdin', '--strict']);
  from.stdout.pipe(into.stdin);
  from.stdin.end([...found].map((hash) => `${hash}\n`).join(''));
  const [, output] = await Promise.all([
    outcome(from, 'pack-objects'),
    outcome(into, 'index-pack'),
  ]);
  const name = /[0-9a-f]{40}/u.exec(output)?.[0];
  if (name === undefined) throw gitFailure('index-pack', output);
  return { found, packs: [join(deps.layout.packs, `pack-${name}.pack`)] };
}

/** Those of the hashes that are blobs over there. */
async function present(git: Git, objects: string, hashes: readonly Hash[]): Promise<Set<Hash>> {
  const found = new Set<Hash>();
  if (hashes.length === 0) return found;
  const child = git.start(['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    objects,
  });
  const output = outcome(child, 'cat-file');
  child.stdin.end(hashes.map((hash) => `${requireId(hash)}\n`).join(''));
  for (const line of (await output).split('\n')) {
    if (line.endsWith(' blob')) found.add(line.slice(0, 40) as Hash);
  }
  return found;
}

async function outcome(child: ReturnType<Git['start']>, name: string): Promise<string> {
  let stdout = '';
  let stderr = '';
  // The other child of a pipe takes the bytes; only text is gathered here.
  if (name !== 'pack-objects')
    child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-4096)));
  child.stdin.on('error', () => undefined);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw gitFailure(name, stderr);
  return stdout;
}
