import { createHash } from 'node:crypto';
import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { diskIo } from '../../src/ledger/files.js';
import { ledgerIn, linesIn, note, temporaryFolder } from './helpers.js';

describe('a ledger', () => {
  it('numbers, names and chains what it is given', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    expect(await ledger.open()).toMatchObject({ created: true, cutBytes: 0, damageCount: 0 });
    const [first, second] = await ledger.append([note('a'), note('b', { dialog_id: 'D' })]);
    expect(first).toMatchObject({ seq: 1, id: 'evt-000001', prev: '0'.repeat(64) });
    expect(second).toMatchObject({ seq: 2, id: 'evt-000002', dialog_id: 'D', changes: [] });
    const [line = ''] = linesIn(folder).toString().split('\n');
    expect(second?.prev).toBe(createHash('sha256').update(line).digest('hex'));
    expect(JSON.parse(line)).toMatchObject({ snapshot_ref: null, bookmark: null, files: [] });
  });

  it('gives back after a restart exactly what it acknowledged', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    await ledger.open();
    const written = await ledger.append(
      ['x', 'line\nbreak', '\u2028 ü 🙂'].map((text) => note(text)),
    );
    await ledger.close();
    const again = ledgerIn(folder);
    expect(await again.open()).toMatchObject({ created: false, cutBytes: 0, damageCount: 0 });
    expect(await again.read({ limit: 10 })).toEqual(written);
    expect(again.head()).toEqual(ledger.head());
    expect(again.stats()).toEqual({ events: 3, bytes: linesIn(folder).length });
  });

  it('keeps fields that only a newer daemon knows', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    await ledger.open();
    await ledger.append([
      note('a', { colour: { shade: 'blue' }, author: { name: 'n', kind: 'k', team: 7 } }),
    ]);
    await ledger.open();
    const [entry] = await ledger.read({ limit: 1 });
    expect(entry).toMatchObject({ colour: { shade: 'blue' }, author: { team: 7 } });
    expect(entry).not.toHaveProperty('crc');
    expect(entry).not.toHaveProperty('more');
  });

  it('refuses an event it could not explain later', async () => {
    const ledger = ledgerIn(temporaryFolder());
    await ledger.open();
    expect(() => ledger.append([note('a', { action_type: 'made_up' as never })])).toThrow();
    expect(() => ledger.append([note('a', { ts: 'yesterday' })])).toThrow();
    expect(ledger.head().seq).toBe(0);
  });

  it('shares one flush between appends of the same moment', async () => {
    let flushes = 0;
    const ledger = ledgerIn(temporaryFolder(), {
      flush: (file) => {
        flushes++;
        return diskIo.flush(file);
      },
    });
    await ledger.open();
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, number) => ledger.append([note(`${number}`)])),
    );
    expect(flushes).toBeLessThanOrEqual(2);
    expect(answers.flat().map(({ seq }) => seq)).toEqual(
      Array.from({ length: 500 }, (_, i) => i + 1),
    );
    expect(answers.flat().map(({ rationale }) => rationale)).toEqual(
      Array.from({ length: 500 }, (_, i) => `${i}`),
    );
  });

  it('reads from any position, bounded by count and by bytes', async () => {
    const ledger = ledgerIn(temporaryFolder());
    await ledger.open();
    await ledger.append(Array.from({ length: 1000 }, (_, number) => note(`${number + 1}`)));
    for (const after of [0, 1, 62, 63, 64, 65, 500, 998, 999]) {
      const [entry] = await ledger.read({ after, limit: 1 });
      expect(entry?.seq).toBe(after + 1);
    }
    expect(await ledger.read({ after: 1000, limit: 5 })).toEqual([]);
    expect(await ledger.read({ after: 100, limit: 7 })).toHaveLength(7);
    expect(await ledger.read({ limit: 1000, maxBytes: 5000 })).toHaveLength(10);
    expect(await ledger.read({ limit: 1000, maxBytes: 1 })).toHaveLength(1);
  });

  it('reads from any position after a restart as well', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    await ledger.open();
    await ledger.append(Array.from({ length: 300 }, () => note('x'.repeat(3000))));
    await ledger.open();
    for (const after of [0, 63, 64, 128, 299]) {
      const [entry] = await ledger.read({ after, limit: 1 });
      expect(entry?.seq).toBe(after + 1);
    }
  });

  it('is readable by its owner only', async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'events.jsonl'), '', { mode: 0o644 });
    const ledger = ledgerIn(folder);
    await ledger.open();
    expect(statSync(join(folder, 'events.jsonl')).mode & 0o777).toBe(0o600);
  });

  it('does not follow a link planted at its place', async () => {
    const folder = temporaryFolder();
    const target = join(dirname(folder), 'elsewhere');
    writeFileSync(target, 'precious');
    mkdirSync(folder, { recursive: true });
    symlinkSync(target, join(folder, 'events.jsonl'));
    await expect(ledgerIn(folder).open()).rejects.toMatchObject({ code: 'STORAGE_IO' });
    expect(statSync(target).size).toBe(8);
  });
});
