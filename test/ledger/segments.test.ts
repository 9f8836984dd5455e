import { createHash } from 'node:crypto';
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Ledger } from '../../src/core/ledger.js';
import { diskIo, type LedgerIo } from '../../src/ledger/files.js';
import { ledgerIn, note, temporaryFolder } from './helpers.js';

const SMALL = 2_000;
const COUNT = 40;

const files = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith('events'))
    .sort();

async function rotated(io: Partial<LedgerIo> = {}) {
  const folder = temporaryFolder();
  const ledger = ledgerIn(folder, io, SMALL);
  await ledger.open();
  for (let number = 1; number <= COUNT; number++) await ledger.append([note(`${number}`)]);
  return { folder, ledger };
}

async function textsOf(ledger: Ledger): Promise<(string | null)[]> {
  return (await ledger.read({ limit: 1_000 })).map(({ rationale }) => rationale);
}

const ALL = Array.from({ length: COUNT }, (_, number) => `${number + 1}`);

/** The same files in a folder that no daemon has seen. */
function copied(folder: string): string {
  const other = temporaryFolder();
  mkdirSync(other, { recursive: true });
  for (const name of files(folder)) copyFileSync(join(folder, name), join(other, name));
  return other;
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

describe('a ledger in several files', () => {
  it('begins a new file when one is full, and the full ones stay as they are', async () => {
    const { folder, ledger } = await rotated();
    const names = files(folder);
    expect(names.length).toBeGreaterThan(4);
    expect(names.slice(0, 2)).toEqual(['events-000001.jsonl', 'events-000002.jsonl']);
    expect(names.at(-1)).toBe('events.jsonl');
    const full = names.slice(0, -1).map((name) => readFileSync(join(folder, name)));
    for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    await ledger.append([note('one more')]);
    expect(names.slice(0, -1).map((name) => readFileSync(join(folder, name)))).toEqual(full);
    const now = files(folder).map((name) => readFileSync(join(folder, name)));
    const lines = Buffer.concat(now).toString();
    let prev = '0'.repeat(64);
    for (const line of lines.trimEnd().split('\n')) {
      expect((JSON.parse(line) as { prev: string }).prev).toBe(prev);
      prev = createHash('sha256').update(line).digest('hex');
    }
    expect(ledger.stats()).toEqual({ events: COUNT + 1, bytes: Buffer.byteLength(lines) });
  });

  it('is one ledger to whoever reads it, before and after a restart', async () => {
    const { folder, ledger } = await rotated();
    for (const one of [ledger, ledgerIn(folder, {}, SMALL)]) {
      if (one !== ledger) {
        await ledger.close();
        expect(await one.open()).toMatchObject({ created: false, cutBytes: 0, damageCount: 0 });
      }
      expect(await textsOf(one)).toEqual(ALL);
      for (let after = 0; after < COUNT; after++) {
        const [entry] = await one.read({ after, limit: 1 });
        expect(entry?.rationale).toBe(`${after + 1}`);
        expect(await one.hashOf(after + 1)).toBe(
          (await one.read({ after: after + 1, limit: 1 }))[0]?.prev ?? one.head().hash,
        );
      }
      expect(await one.verify()).toMatchObject({ events: COUNT, damageCount: 0 });
    }
  });

  it('opens one that was never rotated, however large, and goes on in a new file', async () => {
    const folder = temporaryFolder();
    const before = ledgerIn(folder);
    await before.open();
    await before.append(ALL.map((text) => note(text)));
    await before.close();
    const ledger = ledgerIn(folder, {}, SMALL);
    await ledger.open();
    await ledger.append([note('next')]);
    expect(files(folder)).toEqual(['events-000001.jsonl', 'events.jsonl']);
    expect(await textsOf(ledger)).toEqual([...ALL, 'next']);
  });

  it('is whole after a crash at any step of the change of files', async () => {
    const { folder, ledger } = await rotated();
    await ledger.close();
    const last = files(folder).length;
    const sealed = `events-${String(last).padStart(6, '0')}.jsonl`;
    const steps: ((at: (name: string) => string) => void)[] = [
      (at) => writeFileSync(at('events.next'), ''),
      (at) => {
        writeFileSync(at('events.next'), '');
        renameSync(at('events.jsonl'), at(sealed));
      },
      // The disk may have the one name and not yet the other.
      (at) => renameSync(at('events.jsonl'), at(sealed)),
      (at) => {
        renameSync(at('events.jsonl'), at(sealed));
        writeFileSync(at('events.jsonl'), '');
      },
    ];
    for (const step of steps) {
      const crashed = copied(folder);
      step((name) => join(crashed, name));
      const again = ledgerIn(crashed, {}, SMALL);
      expect(await again.open()).toMatchObject({ created: false, cutBytes: 0, damageCount: 0 });
      await again.append([note('after')]);
      expect(await textsOf(again)).toEqual([...ALL, 'after']);
      expect(await again.verify()).toMatchObject({ events: COUNT + 1, damageCount: 0 });
      expect(files(crashed)).not.toContain('events.next');
    }
  });

  it('stays in its file when that cannot be renamed', async () => {
    const { folder, ledger } = await rotated({
      rename: () => Promise.reject(new Error('refused')),
    });
    expect(files(folder).filter((name) => name !== 'events.next')).toEqual(['events.jsonl']);
    expect(await textsOf(ledger)).toEqual(ALL);
  });

  it('acknowledges nothing when the new name may not last, until it is opened again', async () => {
    let isBroken = true;
    const io: Partial<LedgerIo> = {
      flushFolder: (folder) =>
        isBroken ? Promise.reject(new Error('EIO')) : diskIo.flushFolder(folder),
    };
    const ledger = ledgerIn(temporaryFolder(), io, SMALL);
    await ledger.open();
    const written: string[] = [];
    const refused = (async () => {
      for (const text of ALL) {
        await ledger.append([note(text)]);
        written.push(text);
      }
    })();
    await expect(refused).rejects.toMatchObject({ code: 'STORAGE_IO' });
    isBroken = false;
    expect(await ledger.open()).toMatchObject({ cutBytes: 0, damageCount: 0 });
    await ledger.append([note('after')]);
    expect(await textsOf(ledger)).toEqual([...written, 'after']);
  });

  it('loses at most the torn line, whatever byte of the last three lines a cut falls on', async () => {
    const { folder, ledger } = await rotated();
    await ledger.close();
    // The last three lines of all, in two files: only the first of them is in the last one.
    const names = files(folder);
    const size = statSync(join(folder, 'events.jsonl')).size;
    const lines = readFileSync(join(folder, 'events.jsonl'), 'utf8').split('\n');
    const from = size - Buffer.byteLength(lines.slice(-4).join('\n'));
    const inSealed = COUNT - (lines.length - 1);
    for (let at = Math.max(0, from); at < size; at += 41) {
      const cut = copied(folder);
      truncateSync(join(cut, 'events.jsonl'), at);
      const again = ledgerIn(cut, {}, SMALL);
      const { cutBytes, damageCount, quarantined } = await again.open();
      const kept =
        inSealed + readFileSync(join(cut, 'events.jsonl'), 'utf8').split('\n').length - 1;
      expect(damageCount).toBe(0);
      expect(cutBytes === 0).toBe(quarantined === null);
      expect(await textsOf(again)).toEqual(ALL.slice(0, kept));
      await again.close();
    }
    expect(names.length).toBeGreaterThan(1);
  });

  it('never cuts a full file: what is wrong with it is damage, and it is named', async () => {
    const { folder, ledger } = await rotated();
    await ledger.close();
    const name = 'events-000002.jsonl';
    for (const spoil of [
      (path: string) => flip(path, 500),
      (path: string) => truncateSync(path, statSync(path).size - 5),
      (path: string) => appendFileSync(path, 'half a line'),
      (path: string) => rmSync(path),
    ]) {
      const spoilt = copied(folder);
      const path = join(spoilt, name);
      spoil(path);
      const size = statSync(path, { throwIfNoEntry: false })?.size;
      const again = ledgerIn(spoilt, {}, SMALL);
      const report = await again.open();
      expect(report).toMatchObject({ cutBytes: 0 });
      expect(report.damageCount).toBeGreaterThan(0);
      // Of one that is gone the next one tells.
      const named = size === undefined ? 'events-000003.jsonl' : name;
      expect(report.damage[0]?.file).toBe(named);
      expect((await again.verify()).damage[0]?.file).toBe(named);
      expect(statSync(path, { throwIfNoEntry: false })?.size).toBe(size);
      await again.append([note('goes on')]);
      expect((await textsOf(again)).at(-1)).toBe('goes on');
    }
  });

  it('notices what was done to a file while nobody had it open', async () => {
    const { folder, ledger } = await rotated();
    await ledger.close();
    const again = ledgerIn(folder, {}, SMALL);
    expect(await again.open()).toMatchObject({ damageCount: 0 });
    await again.close();
    flip(join(folder, 'events-000001.jsonl'), 700);
    const report = await again.open();
    expect(report.damage.map(({ file }) => file)).toEqual(['events-000001.jsonl']);
    // It is said at every start, and not only at the first.
    await again.close();
    expect((await again.open()).damageCount).toBe(report.damageCount);
  });

  it('needs nothing that it remembers of its files', async () => {
    const { folder, ledger } = await rotated();
    await ledger.close();
    const remembered = join(folder, 'segments.bin');
    for (const spoil of [
      () => rmSync(remembered),
      () => flip(remembered, 40),
      () => truncateSync(remembered, 12),
      () => writeFileSync(remembered, ''),
    ]) {
      spoil();
      const again = ledgerIn(folder, {}, SMALL);
      expect(await again.open()).toMatchObject({ cutBytes: 0, damageCount: 0 });
      expect(await textsOf(again)).toEqual(ALL);
      await again.close();
    }
  });
});
