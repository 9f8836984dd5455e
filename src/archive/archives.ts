import { createHash, randomBytes, type Hash as Hasher } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArchivedFile, Archives, Unpacked, UnpackedFile } from '../core/archive.js';
import { SmithyError } from '../core/errors.js';
import type { Hash } from '../core/model.js';
import type { Content } from '../core/store.js';
import { damaged, refusedBySystem, tooMuch } from './damage.js';
import { padding, TAR_END, tarEntries, tarHead, type TarEntry, type TarHead } from './tar.js';
import { compressed, decompressed } from './zstd.js';

const MANIFEST = 'manifest.json';
const FILES = 'files/';
const MOST_MANIFEST_BYTES = 64 * 1024 * 1024;
/** A link's target is a path. */
const MOST_TARGET_BYTES = 4096;
const MODES = { file: '100644', program: '100755', link: '120000' } as const;
/** Held as a whole: the store packs many of these at once. */
const SMALL_BYTES = 1024 * 1024;
const SPOOL = 'import-';

/** Archives of projects; what is taken in waits below the state folder. */
export function createArchives(state: string): Archives {
  /** Spools of imports under way: a start that is tried again sweeps beside them. */
  const inUse = new Set<string>();

  return {
    async write(to, content) {
      const part = `${to}.part-${randomBytes(4).toString('hex')}`;
      try {
        const bytes = await writeFile(part, compressed(tarOf(content)), true);
        // Refuses when the name is taken, which a rename would not.
        await link(part, to);
        await flushFolder(dirname(to));
        return { bytes };
      } catch (error) {
        throw error instanceof SmithyError ? error : refusedBySystem(to, error);
      } finally {
        await rm(part, { force: true }).catch(() => undefined);
      }
    },

    async read(from, limits) {
      const name = `${SPOOL}${randomBytes(6).toString('hex')}`;
      const spool = join(state, name);
      const release = async () => {
        await rm(spool, { recursive: true, force: true });
        inUse.delete(name);
      };
      inUse.add(name);
      try {
        await mkdir(spool, { mode: 0o700 });
        const unpacked = await unpack(from, { spool, ...limits });
        return { ...unpacked, release };
      } catch (error) {
        await release();
        throw error instanceof SmithyError ? error : refusedBySystem(from, error);
      }
    },

    async sweep() {
      const names = await readdir(state).catch(() => []);
      const left = names.filter((name) => name.startsWith(SPOOL) && !inUse.has(name));
      for (const name of left) {
        await rm(join(state, name), { recursive: true, force: true });
      }
    },
  };
}

async function writeFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  isToLast = false,
): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  try {
    let bytes = 0;
    for await (const chunk of chunks) {
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    if (isToLast) await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  await folder.sync().finally(() => folder.close());
}

async function* tarOf(all: {
  readonly manifest: unknown;
  readonly files: AsyncIterable<ArchivedFile>;
}): AsyncGenerator<Uint8Array> {
  const manifest = Buffer.from(`${JSON.stringify(all.manifest, null, 2)}\n`);
  yield tarHead({ path: MANIFEST, size: manifest.length, kind: 'file' });
  yield manifest;
  yield padding(manifest.length);
  for await (const { path, mode, content } of all.files) {
    const name = `${FILES}${path}`;
    if (mode === '120000') {
      const target = targetOf(path, await whole(content));
      yield tarHead({ path: name, size: 0, kind: 'link', target });
      continue;
    }
    const size = content instanceof Uint8Array ? content.length : content.size;
    yield tarHead({ path: name, size, kind: mode === '100755' ? 'program' : 'file' });
    if (content instanceof Uint8Array) yield content;
    else yield* content.chunks;
    yield padding(size);
  }
  yield TAR_END;
}

/** The format has no other bytes for it. */
function targetOf(path: string, bytes: Buffer): string {
  const target = bytes.toString('utf8');
  if (Buffer.from(target).equals(bytes)) return target;
  throw new SmithyError('PATH_UNSUPPORTED', `The link ${path} leads to a name that is no UTF-8.`, {
    hint: 'It cannot be part of an archive.',
    data: { path },
  });
}

async function whole(content: Content): Promise<Buffer> {
  if (content instanceof Uint8Array) return Buffer.from(content);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.chunks) chunks.push(chunk);
  return Buffer.concat(chunks);
}

interface Unpacking {
  readonly spool: string;
  readonly mostBytes: number;
  readonly mostFiles: number;
}

async function unpack(
  from: string,
  { spool, mostBytes, mostFiles }: Unpacking,
): Promise<Omit<Unpacked, 'release'>> {
  const source = await openRegular(from);
  const packed = source.createReadStream({ highWaterMark: 64 * 1024 });
  const files: UnpackedFile[] = [];
  let manifest: unknown;
  let room = mostBytes;
  try {
    for await (const entry of tarEntries(decompressed(packed))) {
      if (entry.path === MANIFEST && manifest === undefined) {
        manifest = await readManifest(entry);
        continue;
      }
      if (!entry.path.startsWith(FILES)) throw damaged(`${MANIFEST} does not come first`);
      if (files.length >= mostFiles) throw tooMuch('files', mostFiles);
      room -= entry.size;
      if (room < 0) throw tooMuch('bytes', mostBytes);
      files.push(await takeOut(entry, join(spool, String(files.length))));
    }
  } finally {
    packed.destroy();
  }
  if (manifest === undefined) throw damaged(`it has no ${MANIFEST}`);
  return { manifest, files };
}

/** A pipe would wait for ever, and a device has no end. */
async function openRegular(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new SmithyError('PATH_UNSUPPORTED', `${path} is no file.`, { data: { path } });
}

async function readManifest(entry: TarEntry): Promise<unknown> {
  if (entry.size > MOST_MANIFEST_BYTES) throw tooMuch('bytes of manifest', MOST_MANIFEST_BYTES);
  const chunks: Buffer[] = [];
  for await (const chunk of entry.content()) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw damaged(`${MANIFEST} is no JSON`);
  }
}

async function takeOut(entry: TarEntry, place: string): Promise<UnpackedFile> {
  const { path, kind, target } = entry;
  const known = { path: path.slice(FILES.length), mode: MODES[kind] };
  if (kind === 'link') {
    const bytes = Buffer.from(requireTarget(entry, target));
    const [hash, sha256] = digestsOf(blobHasher(bytes.length).update(bytes), bytes);
    const size = bytes.length;
    return { ...known, size, hash, sha256, target: bytes.toString(), content: () => bytes };
  }
  const { size } = entry;
  const git = blobHasher(size);
  const sha = createHash('sha256');
  const observed = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of entry.content()) {
      git.update(chunk);
      sha.update(chunk);
      yield chunk;
    }
  };
  await writeFile(place, observed());
  const content = (): Content | Promise<Content> =>
    size <= SMALL_BYTES ? readFile(place) : { size, chunks: lazily(place) };
  return { ...known, size, hash: git.digest('hex') as Hash, sha256: sha.digest('hex'), content };
}

async function* lazily(place: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(place) as AsyncIterable<Buffer>;
}

function requireTarget({ size, path }: TarHead, target = ''): string {
  if (size === 0 && target !== '' && Buffer.byteLength(target) <= MOST_TARGET_BYTES) return target;
  throw damaged(`the link ${JSON.stringify(path.slice(0, 200))} leads nowhere`);
}

function blobHasher(size: number): Hasher {
  return createHash('sha1').update(`blob ${size}\0`);
}

function digestsOf(git: Hasher, bytes: Uint8Array): [Hash, string] {
  return [git.digest('hex') as Hash, createHash('sha256').update(bytes).digest('hex')];
}
