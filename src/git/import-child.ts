import { once } from 'node:events';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import { gitFailure } from './failures.js';
import { codeOf } from './files.js';
import type { Layout } from './layout.js';
import type { Git } from './run.js';

/** One life of `git fast-import`. */
export interface ImportChild {
  /** Waits when the child is behind. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Resolves with the lines the child wrote before it repeated `token`. */
  answer(token: string): Promise<string[]>;
  /** The packs finished since the last question, as paths. */
  newPacks(): string[];
  /** Lets it finish its pack and go. */
  end(): Promise<void>;
  readonly isAlive: () => boolean;
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
  let output = '';
  let isAlive = true;
  let edgesRead = 0;
  let waiting: { token: string; resolve: (lines: string[]) => void } | undefined;
  let gathered: (string | Uint8Array)[] = [];
  let gatheredBytes = 0;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);

  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-8192)));
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
    const end = waiting === undefined ? -1 : output.indexOf(`progress ${waiting.token}\n`);
    if (waiting === undefined || end === -1) return;
    const lines = output.slice(0, end).split('\n').slice(0, -1);
    output = output.slice(end + `progress ${waiting.token}\n`.length);
    waiting.resolve(lines);
    waiting = undefined;
  });
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => {
    isAlive = false;
    fail(gitFailure('fast-import', error.message, error));
  });
  const closed = once(child, 'close').then(() => {
    isAlive = false;
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
    async answer(token) {
      const answered = new Promise<string[]>((resolve) => (waiting = { token, resolve }));
      await flushGathered();
      return inTime(Promise.race([answered, failed]));
    },
    newPacks() {
      const text = readFrom(edges, edgesRead);
      edgesRead += Buffer.byteLength(text);
      // `<path>: <commits>`; our own folder may contain a colon.
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.slice(0, line.lastIndexOf('.pack:') + '.pack'.length));
    },
    async end() {
      if (isAlive) {
        await flushGathered().catch(() => undefined);
        child.stdin.end('done\n');
      }
      await inTime(closed);
    },
    isAlive: () => isAlive,
  };
}

function readFrom(path: string, offset: number): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const buffer = Buffer.allocUnsafe(64 * 1024);
      const read = buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset));
      return read.toString('utf8', 0, read.lastIndexOf('\n') + 1);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
