import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createArchives } from '../../src/archive/archives.js';
import { TAR_END, padding, tarHead, type TarHead } from '../../src/archive/tar.js';
import { compressed, decompressed } from '../../src/archive/zstd.js';
import type { ArchivedFile } from '../../src/core/archive.js';
import { temporaryFolder } from '../support/daemon-project.js';

const LIMITS = { mostBytes: 64 * 1024 * 1024, mostFiles: 100 };
const hasZstd = spawnSync('zstd', ['--version']).status === 0;

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* each<T>(...items: T[]): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

/** A tar as anybody could make it. */
function tar(...entries: readonly (readonly [Partial<TarHead> & { path: string }, Buffer?])[]) {
  return Buffer.concat([
    ...entries.flatMap(([head, content = Buffer.alloc(0)]) => [
      tarHead({ size: content.length, kind: 'file', ...head }),
      content,
      padding(content.length),
    ]),
    TAR_END,
  ]);
}

async function archive(bytes: Buffer): Promise<string> {
  const path = join(folder, `${randomBytes(4).toString('hex')}.tar.zst`);
  writeFileSync(path, await bytesOf(compressed(each(bytes))));
  return path;
}

const manifest = (content: unknown = {}) =>
  [{ path: 'manifest.json' }, Buffer.from(JSON.stringify(content))] as const;

describe('an archive', () => {
  it('gives back what it was made from, whatever the names and sizes', async () => {
    const archives = createArchives(folder);
    const large = randomBytes(3 * 1024 * 1024);
    const files: ArchivedFile[] = [
      { path: 'a', mode: '100644', content: Buffer.from('a\n') },
      { path: 'empty', mode: '100644', content: Buffer.alloc(0) },
      { path: `${'deep/'.repeat(60)}program`, mode: '100755', content: Buffer.from('#!\n') },
      { path: 'näme "quoted"\nand more', mode: '100644', content: Buffer.alloc(512, 'x') },
      { path: 'link', mode: '120000', content: Buffer.from('näher/dran') },
      { path: 'large', mode: '100644', content: { size: large.length, chunks: each(large) } },
    ];
    const to = join(folder, 'out.tar.zst');
    const { bytes } = await archives.write(to, { manifest: { of: 'mine' }, files: each(...files) });
    expect(readFileSync(to)).toHaveLength(bytes);
    const unpacked = await archives.read(to, LIMITS);
    expect(unpacked.manifest).toEqual({ of: 'mine' });
    expect(unpacked.files.map(({ path, mode }) => [path, mode])).toEqual(
      files.map(({ path, mode }) => [path, mode]),
    );
    for (const [at, { content, sha256, hash, size }] of unpacked.files.entries()) {
      const given = await content();
      const now = given instanceof Uint8Array ? given : await bytesOf(given.chunks);
      const source = files[at]?.content;
      const same = Buffer.from(now).equals(source instanceof Uint8Array ? source : large);
      expect([at, same]).toEqual([at, true]);
      expect(sha256).toBe(createHash('sha256').update(now).digest('hex'));
      const blob = createHash('sha1').update(`blob ${size}\0`).update(now);
      expect(hash).toBe(blob.digest('hex'));
    }
    await unpacked.release();
    expect(readdirSync(folder)).toEqual(['out.tar.zst']);
  });

  it('is never written over another file, and leaves nothing when it fails', async () => {
    const archives = createArchives(folder);
    const to = join(folder, 'taken');
    writeFileSync(to, 'mine');
    const content = { manifest: {}, files: each<ArchivedFile>() };
    await expect(archives.write(to, content)).rejects.toMatchObject({ code: 'NAME_TAKEN' });
    await expect(archives.write(join(folder, 'no/such/x'), content)).rejects.toMatchObject({
      code: 'PATH_UNSUPPORTED',
    });
    expect(readFileSync(to, 'utf8')).toBe('mine');
    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it.each<[string, string, () => Buffer]>([
    ['no manifest', 'STORE_CORRUPT', () => tar()],
    ['files before the manifest', 'STORE_CORRUPT', () => tar([{ path: 'x' }], manifest())],
    ['a manifest that is no JSON', 'STORE_CORRUPT', () => tar([{ path: 'manifest.json' }])],
    ['a file beside the others', 'STORE_CORRUPT', () => tar(manifest(), [{ path: '/etc/x' }])],
    ['half of itself', 'STORE_CORRUPT', () => tar(manifest()).subarray(0, 700)],
    [
      'a header that was changed',
      'STORE_CORRUPT',
      () => {
        const bytes = tar(manifest());
        bytes[0] = 0x6e;
        return bytes;
      },
    ],
    [
      'a hard link',
      'STORE_CORRUPT',
      () => {
        const bytes = tar(manifest(), [{ path: 'files/h' }]);
        const at = bytes.length - TAR_END.length - 512;
        // Type 1, and the sum that goes with it.
        bytes[at + 156] = 0x31;
        const sum = Number.parseInt(bytes.subarray(at + 148, at + 154).toString(), 8) + 1;
        bytes.write(sum.toString(8).padStart(6, '0'), at + 148, 'latin1');
        return bytes;
      },
    ],
    [
      'too many files',
      'LIMIT_EXCEEDED',
      () =>
        tar(
          manifest(),
          ...Array.from({ length: 101 }, (_, n) => [{ path: `files/${n}` }] as const),
        ),
    ],
    [
      'a size beyond the limit',
      'LIMIT_EXCEEDED',
      () => tar(manifest(), [{ path: 'files/big', size: LIMITS.mostBytes + 1 }]),
    ],
  ])('with %s is refused', async (_, code, make) => {
    const archives = createArchives(folder);
    const path = await archive(make());
    await expect(archives.read(path, LIMITS)).rejects.toMatchObject({ code });
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('that would fill the disk is given up early', async () => {
    const archives = createArchives(folder);
    const size = 32 * 1024 * 1024;
    const zeros = Buffer.alloc(1024 * 1024);
    const bomb = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(tar(manifest()).subarray(0, -TAR_END.length));
      for (let file = 0; file < 4; file += 1) {
        yield tarHead({ path: `files/${file}`, size: size / 4, kind: 'file' });
        for (let at = 0; at < size / 4; at += zeros.length) yield zeros;
      }
    };
    const path = join(folder, 'bomb.tar.zst');
    writeFileSync(path, await bytesOf(compressed(bomb())));
    expect(readFileSync(path).length).toBeLessThan(100_000);
    const limits = { ...LIMITS, mostBytes: size / 2 };
    await expect(archives.read(path, limits)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(readdirSync(folder)).toEqual(['bomb.tar.zst']);
  });

  it('that is no zstd, is cut off or was changed anywhere is refused', async () => {
    const archives = createArchives(folder);
    const path = await archive(tar(manifest(), [{ path: 'files/a' }, randomBytes(5000)]));
    const whole = readFileSync(path);
    const refused = async (bytes: Buffer): Promise<void> => {
      writeFileSync(path, bytes);
      await expect(archives.read(path, LIMITS)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    };
    await refused(Buffer.from('hello, I am no archive'));
    await refused(Buffer.alloc(0));
    for (let end = 1; end < whole.length; end += 97) await refused(whole.subarray(0, end));
    await expect(archives.read(folder, LIMITS)).rejects.toMatchObject({ code: 'PATH_UNSUPPORTED' });
    await expect(archives.read(join(folder, 'none'), LIMITS)).rejects.toMatchObject({
      code: 'PATH_UNSUPPORTED',
    });
  });

  it('half taken in by a daemon that was killed is swept', async () => {
    mkdirSync(join(folder, 'import-000000000000'));
    await createArchives(folder).sweep();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that is being taken in is not swept', async () => {
    const archives = createArchives(folder);
    const from = await archive(tar(manifest(), [{ path: 'files/a' }, Buffer.from('a\n')]));
    const unpacked = await archives.read(from, LIMITS);
    await archives.sweep();
    expect(await unpacked.files[0]?.content()).toEqual(Buffer.from('a\n'));
    await unpacked.release();
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe('zstd', () => {
  it('reads back streams of any length, several at once', async () => {
    const lengths = [0, 1, 131_072, 524_287, 524_288, 524_289, 2_000_000];
    const texts = lengths.map((length) => Buffer.alloc(length, 'some text '));
    const packed = await Promise.all(texts.map((text) => bytesOf(compressed(each(text)))));
    const back = await Promise.all(packed.map((bytes) => bytesOf(decompressed(each(bytes)))));
    expect(back.map((bytes) => bytes.length)).toEqual(lengths);
    expect(back.every((bytes, at) => bytes.equals(texts[at] ?? bytes))).toBe(true);
  });

  (hasZstd ? it : it.skip)('is what the program zstd reads and writes', async () => {
    const text = Buffer.concat([Buffer.alloc(3_000_000, 'abc'), randomBytes(300_000)]);
    const packed = await bytesOf(compressed(each(text)));
    const limits = { maxBuffer: 64 * 1024 * 1024 };
    const there = spawnSync('zstd', ['-dc'], { input: packed, ...limits });
    expect(there.stdout.equals(text)).toBe(true);
    for (const level of ['-1', '-19']) {
      const back = spawnSync('zstd', ['-c', level], { input: text, ...limits });
      expect((await bytesOf(decompressed(each(back.stdout)))).equals(text)).toBe(true);
    }
  });
});
