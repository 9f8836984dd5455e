import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { EventIndex } from '../../src/core/event-index.js';
import { ActionType } from '../../src/core/ledger.js';
import { checkLine, decodeLine, encodeLine } from '../../src/ledger/line.js';
import { ledgerIn, linesIn, note, temporaryFolder } from './helpers.js';

/** Written by a daemon of its time; never to be written again. One for each version of the format. */
const GOLDEN = join(import.meta.dirname, '../fixtures/ledger-1.jsonl');

describe('a ledger of format 1', () => {
  const bytes = readFileSync(GOLDEN);
  const lines = bytes
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'latin1'));

  async function opened() {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'events.jsonl'), bytes);
    const ledger = ledgerIn(folder);
    const report = await ledger.open();
    return { folder, ledger, report };
  }

  it('is read without a doubt, and nothing in it is touched', async () => {
    const { folder, ledger, report } = await opened();
    expect(report).toMatchObject({ created: false, cutBytes: 0, damageCount: 0 });
    const last = createHash('sha256')
      .update(lines.at(-1) ?? '')
      .digest('hex');
    expect(ledger.head()).toEqual({ seq: 49, hash: last });
    expect(await ledger.read({ limit: 100 })).toHaveLength(49);
    expect(linesIn(folder)).toEqual(bytes);
  });

  it('is what would be written today, to the byte', () => {
    for (const line of lines) {
      const more = checkLine(line)?.more ?? -1;
      expect(encodeLine(decodeLine(line), more).toString()).toBe(line.toString());
    }
  });

  it('has only words that are known, and can be looked through', async () => {
    const { ledger } = await opened();
    const index = new EventIndex();
    for (const entry of await ledger.read({ limit: 100 })) {
      expect(ActionType.safeParse(entry.action_type).success).toBe(true);
      index.add(entry);
    }
    expect(index.find({ action: 'file_move', limit: 10 })).toEqual([15]);
    expect(index.find({ file: 'other', limit: 10 })).toEqual([15, 14]);
  });

  it('goes on from where it was', async () => {
    const { ledger } = await opened();
    const { hash } = ledger.head();
    expect(await ledger.append([note('today')])).toMatchObject([{ seq: 50, prev: hash }]);
  });
});

describe('a ledger of format 1 in several files', () => {
  /** Written once, with files of 3,000 bytes; never to be written again. */
  const golden = join(import.meta.dirname, '../fixtures/ledger-1-rotated');
  const names = ['events-000001.jsonl', 'events-000002.jsonl', 'events.jsonl'];

  function copied(): string {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    for (const name of names) copyFileSync(join(golden, name), join(folder, name));
    return folder;
  }

  it('is one chain through all files, and nothing in them is touched', async () => {
    const folder = copied();
    const ledger = ledgerIn(folder, {}, 3_000);
    expect(await ledger.open()).toMatchObject({ created: false, cutBytes: 0, damageCount: 0 });
    const entries = await ledger.read({ limit: 100 });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 18 }, (_, at) => at + 1));
    const bytes = names.map((name) => readFileSync(join(golden, name)));
    const lines = Buffer.concat(bytes).toString().trimEnd().split('\n');
    expect(entries.slice(1).map(({ prev }) => prev)).toEqual(
      lines.slice(0, -1).map((line) => createHash('sha256').update(line).digest('hex')),
    );
    for (const [at, name] of names.entries()) {
      expect(readFileSync(join(folder, name))).toEqual(bytes[at]);
    }
    expect(await ledger.verify()).toMatchObject({ files: expect.any(Number), damage: [] });
    const { hash } = ledger.head();
    expect(await ledger.append([note('today')])).toMatchObject([{ seq: 19, prev: hash }]);
  });

  it('tells of a file that is missing in the middle', async () => {
    const folder = copied();
    rmSync(join(folder, 'events-000002.jsonl'));
    const { damage } = await ledgerIn(folder, {}, 3_000).open();
    expect(damage.map(({ kind }) => kind)).toContain('missing_seq');
  });
});
