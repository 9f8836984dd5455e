import { join } from 'node:path';
import type { CommitId } from '../core/model.js';
import { once } from 'node:events';
import { gitFailure } from './failures.js';
import type { Layout } from './layout.js';
import type { Packs } from './packs.js';
import { readBranches } from './refs.js';
import { listDialogs } from './layout.js';
import type { Git } from './run.js';

export interface PruneDeps {
  readonly git: Git;
  readonly layout: Layout;
  readonly packs: Packs;
}

/**
 * Writes one pack of everything that is reachable, flushes it, and only then removes the others.
 * A kill at any point leaves every reachable object in at least one pack. No writer may run.
 */
export async function prune(deps: PruneDeps, pinned: readonly string[]): Promise<void> {
  const { git, layout, packs } = deps;
  const tips = await allTips(layout);
  const old = packs.names();
  const roots = [...tips, ...pinned];
  const fresh = roots.length === 0 ? [] : await packReachable(git, layout, roots);
  await packs.admit(fresh.map((name) => join(layout.packs, name)));
  await packs.remove(old.filter((name) => !fresh.includes(name)));
}

async function allTips(layout: Layout): Promise<Set<CommitId>> {
  const tips = new Set<CommitId>();
  for (const dialog of await listDialogs(layout)) {
    for (const id of (await readBranches(layout, dialog)).values()) tips.add(id);
  }
  return tips;
}

async function packReachable(git: Git, layout: Layout, roots: readonly string[]) {
  const stem = join(layout.packs, 'pack');
  // Existing deltas are reused and no new ones searched: the writers wait for this.
  const child = git.start(['pack-objects', '-q', '--revs', '--window=0', stem]);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-4096)));
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${roots.join('\n')}\n`);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw gitFailure('pack-objects', stderr);
  return stdout
    .split('\n')
    .filter((line) => /^[0-9a-f]{40}$/u.test(line))
    .map((hash) => `pack-${hash}.pack`);
}
