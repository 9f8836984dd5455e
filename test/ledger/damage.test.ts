import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { LedgerDamage } from '../../src/core/ledger.js';
import { encodeLine, hashLine } from '../../src/ledger/line.js';
import { Scanner } from '../../src/ledger/scan.js';
import { ledgerIn, linesIn, note, temporaryFolder } from './helpers.js';

let whole: Buffer;
let lines: string[];

beforeAll(async () => {
  const folder = temporaryFolder();
  const ledger = ledgerIn(folder);
  await ledger.open();
  for (const text of ['one', 'two', 'three', 'four', 'fïve']) await ledger.append([note(text)]);
  whole = linesIn(folder);
  lines = whole.toString().trimEnd().split('\n');
});

async function openWith(content: Uint8Array | string) {
  const folder = temporaryFolder();
  const ledger = ledgerIn(folder);
  await ledger.open();
  writeFileSync(join(folder, 'events.jsonl'), content);
  const report = await ledger.open();
  return { folder, ledger, report };
}

const kinds = (damage: readonly LedgerDamage[]): string[] =>
  damage.map(({ kind, line }) => `${kind}@${line}`);

describe('a ledger that was cut', () => {
  it('keeps every whole line, whatever byte of the last three the cut falls on', async () => {
    const { folder } = await openWith(whole);
    const file = await open(join(folder, 'events.jsonl'));
    const from = lines.slice(0, 2).join('\n').length + 1;
    for (let size = from; size < whole.length; size++) {
      const kept = whole.lastIndexOf(0x0a, size - 1) + 1;
      const count = whole.subarray(0, kept).toString().split('\n').length - 1;
      const scanner = new Scanner();
      await scanner.take({ name: 'events.jsonl', file, size, base: 0, isSealed: false });
      const found = scanner.finish();
      expect([found.goodBytes, found.head.seq, found.damageCount]).toEqual([kept, count, 0]);
    }
    await file.close();
  });

  it('moves what was cut off into quarantine and goes on', async () => {
    const from = lines.slice(0, 2).join('\n').length + 1;
    for (let size = from; size < whole.length; size += 97) {
      const part = whole.subarray(0, size);
      const kept = part.lastIndexOf(0x0a) + 1;
      const { ledger, folder, report } = await openWith(part);
      expect(report).toMatchObject({ cutBytes: size - kept, damageCount: 0 });
      expect(linesIn(folder).equals(whole.subarray(0, kept))).toBe(true);
      const cut = report.quarantined === null ? Buffer.alloc(0) : readFileSync(report.quarantined);
      expect(cut.equals(part.subarray(kept))).toBe(true);
      const { seq } = ledger.head();
      expect((await ledger.append([note('next')]))[0]?.seq).toBe(seq + 1);
      expect(await ledger.open()).toMatchObject({ cutBytes: 0, damageCount: 0 });
    }
  });

  it('drops a group of which only the beginning arrived', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    await ledger.open();
    await ledger.append([note('alone')]);
    const before = linesIn(folder).length;
    await ledger.append([note('a'), note('b'), note('c')]);
    const all = linesIn(folder);
    for (const size of [before + 10, all.indexOf('\n', before) + 1, all.length - 1]) {
      writeFileSync(join(folder, 'events.jsonl'), all.subarray(0, size));
      expect(await ledger.open()).toMatchObject({ cutBytes: size - before, damageCount: 0 });
      expect(ledger.head().seq).toBe(1);
      expect(ledger.stats().events).toBe(1);
    }
  });

  it('cuts off blocks that never reached the disk', async () => {
    const { report, ledger } = await openWith(
      Buffer.concat([whole, Buffer.alloc(4096), Buffer.from('\n')]),
    );
    expect(report).toMatchObject({ cutBytes: 4097, damageCount: 0 });
    expect(ledger.head().seq).toBe(5);
  });

  it('starts anew from an emptied file', async () => {
    const { ledger, folder } = await openWith(whole);
    truncateSync(join(folder, 'events.jsonl'), 0);
    expect(await ledger.open()).toMatchObject({ cutBytes: 0 });
    expect(ledger.head().seq).toBe(0);
  });
});

describe('a ledger that was changed', () => {
  it('notices any flipped byte, names the line and reads the others', async () => {
    const folder = temporaryFolder();
    const ledger = ledgerIn(folder);
    await ledger.open();
    const path = join(folder, 'events.jsonl');
    for (let at = 0; at < whole.length; at += 7) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0x01;
      writeFileSync(path, flipped);
      const report = await ledger.open();
      expect(report.damageCount + report.cutBytes).toBeGreaterThan(0);
      const line = whole.subarray(0, at).toString().split('\n').length;
      if (report.damageCount > 0) expect(report.damage[0]?.line).toBe(line);
      expect((await ledger.read({ limit: 10 })).length).toBeGreaterThanOrEqual(3);
    }
  });

  it('goes on after a bad last line without giving its number away again', async () => {
    const bad = (lines[4] ?? '').replace('fïve', 'sïxx');
    const { ledger, report } = await openWith([...lines.slice(0, 4), bad, ''].join('\n'));
    expect(kinds(report.damage)).toEqual(['bad_line@5']);
    const [entry] = await ledger.append([note('next')]);
    expect(entry?.seq).toBe(6);
    expect(kinds((await ledger.open()).damage)).toEqual(['bad_line@5']);
  });

  it('reports a line replaced by a well-formed other one as a break of the chain', async () => {
    const second = JSON.parse(lines[1] ?? '') as Parameters<typeof encodeLine>[0];
    const forged = encodeLine({ ...second, rationale: 'forged' }, 0).toString();
    const { report, ledger } = await openWith([lines[0], forged, ...lines.slice(2), ''].join('\n'));
    expect(kinds(report.damage)).toEqual(['chain_break@3']);
    expect(await ledger.read({ limit: 10 })).toHaveLength(5);
  });

  it('reports a number that is missing and one that comes twice', async () => {
    const [one, two, three, four, five] = lines;
    expect(kinds((await openWith([one, three, four, ''].join('\n'))).report.damage)).toEqual([
      'missing_seq@2',
    ]);
    const twice = await openWith([one, two, two, three, four, five, ''].join('\n'));
    expect(kinds(twice.report.damage)).toEqual(['duplicate_seq@3']);
    expect(twice.ledger.head()).toEqual({ seq: 5, hash: hashLine(Buffer.from(five ?? '')) });
    const read = await twice.ledger.read({ limit: 10 });
    expect(read.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('stays bounded when everything is wrong', async () => {
    const { report } = await openWith('nonsense\n'.repeat(5000));
    expect(report.damageCount).toBe(5000);
    expect(report.damage).toHaveLength(100);
  });
});
