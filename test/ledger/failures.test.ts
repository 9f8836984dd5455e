import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { diskIo } from '../../src/ledger/files.js';
import { ledgerIn, linesIn, note, temporaryFolder } from './helpers.js';

const failing = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code });

describe('a ledger on a failing disk', () => {
  it('acknowledges nothing more after a failed flush, even when the next would succeed', async () => {
    const folder = temporaryFolder();
    let failures = 1;
    const ledger = ledgerIn(folder, {
      flush: (file) => (failures-- > 0 ? Promise.reject(failing('EIO')) : diskIo.flush(file)),
    });
    await ledger.open();
    failures = 0;
    await ledger.append([note('kept')]);
    failures = 1;
    await expect(ledger.append([note('lost')])).rejects.toMatchObject({
      code: 'STORAGE_IO',
      data: { op: 'ledger.flush' },
    });
    await expect(ledger.append([note('refused')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect(await ledger.read({ limit: 10 })).toHaveLength(1);
    expect(await ledger.open()).toMatchObject({ damageCount: 0, cutBytes: 0 });
    expect((await ledger.append([note('after')]))[0]?.seq).toBe(2);
  });

  it('is suspect after a failed write as well', async () => {
    let isBroken = false;
    const ledger = ledgerIn(temporaryFolder(), {
      write: (file, bytes, at) =>
        isBroken ? Promise.reject(failing('EIO')) : diskIo.write(file, bytes, at),
    });
    await ledger.open();
    isBroken = true;
    await expect(ledger.append([note('a')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    isBroken = false;
    await expect(ledger.append([note('b')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    await ledger.open();
    expect((await ledger.append([note('c')]))[0]?.seq).toBe(1);
  });

  it('takes a half-written line back when the disk is full, and goes on when it is not', async () => {
    const folder = temporaryFolder();
    let isFull = false;
    let calls = 0;
    const ledger = ledgerIn(folder, {
      write: (file, bytes, at) => {
        if (!isFull) return diskIo.write(file, bytes, at);
        if (calls++ === 0) return diskIo.write(file, bytes.subarray(0, 20), at);
        return Promise.reject(failing('ENOSPC'));
      },
    });
    await ledger.open();
    await ledger.append([note('before')]);
    const size = linesIn(folder).length;
    isFull = true;
    await expect(ledger.append([note('refused')])).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    expect(linesIn(folder)).toHaveLength(size);
    isFull = false;
    expect((await ledger.append([note('after')]))[0]?.seq).toBe(2);
    expect(await ledger.open()).toMatchObject({ damageCount: 0, cutBytes: 0 });
  });

  it('is suspect when the half-written line cannot be taken back', async () => {
    const ledger = ledgerIn(temporaryFolder(), {
      write: () => Promise.reject(failing('ENOSPC')),
      truncate: () => Promise.reject(failing('EIO')),
    });
    await ledger.open();
    await expect(ledger.append([note('a')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
    await expect(ledger.append([note('b')])).rejects.toMatchObject({ code: 'STORAGE_IO' });
  });

  (canMount() ? it : it.skip)('survives a really full file system (needs root)', async () => {
    const mount = mountSmall();
    try {
      const ledger = ledgerIn(join(mount, 'ledger'));
      await ledger.open();
      await ledger.append([note('before')]);
      fill(join(mount, 'ballast'));
      await expect(ledger.append([note('x'.repeat(100_000))])).rejects.toMatchObject({
        code: 'STORAGE_FULL',
      });
      rmSync(join(mount, 'ballast'));
      await ledger.append([note('x'.repeat(100_000))]);
      expect(await ledger.open()).toMatchObject({ damageCount: 0, cutBytes: 0 });
      expect(ledger.head().seq).toBe(2);
      await ledger.close();
    } finally {
      execFileSync('umount', [mount]);
      rmSync(mount, { recursive: true });
    }
  });
});

/** A file system of 1 MB. */
function mountSmall(): string {
  const mount = mkdtempSync(join(tmpdir(), 'smithyd-small-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount], { stdio: 'ignore' });
  return mount;
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    const mount = mountSmall();
    execFileSync('umount', [mount]);
    rmSync(mount, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(4 * 1024 * 1024));
  } catch {
    // As full as it gets.
  }
}
