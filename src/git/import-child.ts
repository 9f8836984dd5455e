import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { gitFailure } from './failures.js';
import { readText } from './files.js';
import type { Layout } from './layout.js';
import type { Git } from './run.js';

/** One life of `git fast-import`. */
export interface ImportChild {
  /** Waits when the child is behind. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Lets it finish its packs and go; answers their paths. */
  finish(): Promise<string[]>;
}

/** The child is gone without having said why: killed, most likely, and worth another try. */
export class ChildGone extends Error {
  override readonly name = 'ChildGone';
}

/** Deltas cost time on the way in; the repack in the background finds better ones. */
const ARGUMENTS = ['--quiet', '--force', '--done', '--depth=0', '--date-format=raw'];
const CONFIG = ['-c', 'core.fsync=none'];
/**
 * For each object fast-import takes a quarter of a megabyte for zlib and gives it back, and glibc
 * hands such memory to the system and asks for it again, zeroed. Keeping a little saves a third of
 * the child's processor time (20,000 files: 3.2 s to 2.1 s). Other libraries do not know the names.
 */
const MEMORY = {
  MALLOC_MMAP_THRESHOLD_: String(1024 * 1024),
  MALLOC_TOP_PAD_: String(1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(8 * 1024 * 1024),
};
const SILENCE_MS = 120_000;
/** Small writes are gathered up to this size. */
const CHUNK = 128 * 1024;

export async function startImport(git: Git, layout: Layout): Promise<ImportChild> {
  const edges = join(layout.engine, 'new-packs');
  await rm(edges, { force: true });
  // The only way to learn the names of packs without reading a folder of thousands.
  const named = `--export-pack-edges=${edges}`;
  const child = git.start([...CONFIG, 'fast-import', ...ARGUMENTS, named], { extra: MEMORY });
  let stderr = '';
  let isAlive = true;
  let gathered: (string | Uint8Array)[] = [];
  let gatheredBytes = 0;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);

  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-8192)));
  child.stdout.resume();
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => {
    isAlive = false;
    fail(gitFailure('fast-import', error.message, error));
  });
  const closed = once(child, 'close').then(([status]) => {
    isAlive = false;
    if (status === 0) return;
    fail(stderr.includes('fatal:') ? gitFailure('fast-import', stderr) : new ChildGone());
  });
  closed.catch(() => undefined);

  async function flushGathered(): Promise<void> {
    const bytes = gathered.map((one) => (typeof one === 'string' ? Buffer.from(one) : one));
    gathered = [];
    gatheredBytes = 0;
    if (bytes.length === 0) return;
    if (!isAlive) await failed;
    if (!child.stdin.write(Buffer.concat(bytes))) {
      const drained = new Promise((resolve) => child.stdin.once('drain', resolve));
      await inTime(Promise.race([drained, failed]));
    }
  }

  async function inTime<T>(promise: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      fail(
        new SmithyError('TIMEOUT', 'git fast-import stopped answering.', { hint: 'Try again.' }),
      );
      child.kill('SIGKILL');
    }, SILENCE_MS);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(bytes) {
      gathered.push(bytes);
      gatheredBytes += bytes.length;
      if (gatheredBytes >= CHUNK) await flushGathered();
    },
    async finish() {
      await flushGathered();
      child.stdin.end('done\n');
      await inTime(Promise.race([closed, failed]));
      // `<path>: <commits>`; our own folder may contain a colon.
      return (readText(edges) ?? '')
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(0, line.lastIndexOf('.pack:') + '.pack'.length));
    },
  };
}
