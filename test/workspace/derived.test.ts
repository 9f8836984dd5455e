import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Derived } from '../../src/core/derived.js';
import { NO_INDEX, type EventIndex } from '../../src/core/event-index.js';
import type { Ledger, LedgerEntry } from '../../src/core/ledger.js';
import { createQueue } from '../../src/core/queue.js';
import { createDerivedFiles } from '../../src/ledger/derived-files.js';
import { checkLine, decodeLine } from '../../src/ledger/line.js';
import { BookmarkBook } from '../../src/workspace/bookmark-book.js';
import { DerivedState } from '../../src/workspace/derived-state.js';
import { DialogBook } from '../../src/workspace/dialog-book.js';
import { EditBook } from '../../src/workspace/edit-book.js';
import { ExplainedSince } from '../../src/workspace/explained.js';
import { Milestones } from '../../src/workspace/milestones.js';
import { Timeline } from '../../src/workspace/timeline.js';
import { ledgerIn, note, temporaryFolder } from '../ledger/helpers.js';

const GOLDEN = join(import.meta.dirname, '../fixtures/ledger-1.jsonl');
const golden: LedgerEntry[] = readFileSync(GOLDEN, 'latin1')
  .split('\n')
  .map((line) => Buffer.from(line, 'latin1'))
  .filter((line) => checkLine(line) !== undefined)
  .map(decodeLine);

const clock = { now: () => Date.parse('2026-11-20T00:00:00Z'), monotonic: () => performance.now() };
const nothing = undefined as never;

/** Everything that is made from lines, as of before the first one. */
function derived(ledger: Ledger = nothing) {
  const told = { clock, ledger, told: () => undefined };
  const timeline = new Timeline(ledger);
  const hooks = { underWay: () => [], recorded: () => undefined, alsoRecorded: () => undefined };
  const all: Derived[] = [
    timeline,
    new DialogBook({ ...told, ...hooks, version: '0' }),
    new EditBook(told),
    new Milestones({ ledger, version: '0' } as never),
    new BookmarkBook(),
    new ExplainedSince(),
  ];
  return { timeline, all };
}

const contents = ({ all }: { readonly all: readonly Derived[] }): string =>
  JSON.stringify(all.map((one) => [one.name, one.save()]));

function answers(index: EventIndex) {
  const paths = [...new Set(golden.flatMap(({ files }) => files))];
  return JSON.stringify([
    index.find({ limit: 100 }),
    ...paths.map((file) => [index.changesOf(file), index.find({ file, limit: 9 })]),
    ...['save', 'file_move', 'user'].map((action) => index.find({ action, limit: 9 })),
  ]);
}

describe('what is made from the lines', () => {
  it('is the same whether it is made at once or put aside on the way, wherever that is', () => {
    const whole = derived();
    for (const entry of golden) for (const one of whole.all) one.fold(entry);
    for (let cut = 0; cut <= golden.length; cut++) {
      const first = derived();
      for (const entry of golden.slice(0, cut)) for (const one of first.all) one.fold(entry);
      const second = derived();
      for (const [number, one] of first.all.entries()) {
        const pieces = JSON.parse(JSON.stringify(one.save())) as unknown[];
        for (const piece of pieces) second.all[number]?.load(piece);
      }
      const { index } = first.timeline;
      for (const piece of index.pieces(NO_INDEX, index.mark())) second.timeline.index.load(piece);
      expect(contents(second)).toBe(contents(first));
      for (const entry of golden.slice(cut)) for (const one of second.all) one.fold(entry);
      expect(contents(second)).toBe(contents(whole));
      expect(answers(second.timeline.index)).toBe(answers(whole.timeline.index));
    }
  });

  it('is put aside as it is at that moment, and not as it is when that is written', () => {
    const before = derived();
    for (const entry of golden.slice(0, 20)) for (const one of before.all) one.fold(entry);
    const text = contents(before);
    const saved = before.all.map((one) => [one.name, one.save()]);
    for (const entry of golden.slice(20)) for (const one of before.all) one.fold(entry);
    expect(JSON.stringify(saved)).toBe(text);
  });
});

describe('what is put aside', () => {
  /** A ledger with the golden lines, and a run over it. */
  async function setUp() {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'events.jsonl'), readFileSync(GOLDEN));
    const ledger = ledgerIn(folder);
    await ledger.open();
    return { folder, ledger };
  }

  /** As a daemon does: read, add some lines, put aside. */
  async function run({ folder, ledger }: Awaited<ReturnType<typeof setUp>>, version = '1') {
    const { timeline, all } = derived(ledger);
    const said: string[] = [];
    const read: number[] = [];
    const counting = {
      ...ledger,
      read: async (query: Parameters<Ledger['read']>[0]) => {
        const entries = await ledger.read(query);
        read.push(...entries.map(({ seq }) => seq));
        return entries;
      },
    };
    const state = new DerivedState({
      ...{ ledger: counting, all, version, clock, index: timeline.index },
      fresh: () => {
        const other = derived(ledger);
        return { all: other.all, index: other.timeline.index };
      },
      files: createDerivedFiles(folder),
      turns: createQueue(),
      log: { write: () => undefined },
      progress: () => undefined,
      tell: (sentence) => said.push(sentence),
    });
    await state.open();
    return { state, said, read, all, text: contents({ all }) + answers(timeline.index) };
  }

  it('is read at the next start, and only the lines after it', async () => {
    const site = await setUp();
    const first = await run(site);
    expect(first.read).toHaveLength(49);
    await first.state.close();
    expect(await run(site)).toMatchObject({ said: [], read: [], text: first.text });
    await site.ledger.append([note('later'), note('and later')]);
    const third = await run(site);
    expect(third).toMatchObject({ said: [], read: [50, 51] });
    await third.state.close();
    expect(await run(site)).toMatchObject({ said: [], read: [], text: third.text });
  });

  it('is of no use to another version, and that is nobody’s news', async () => {
    const site = await setUp();
    const first = await run(site);
    await first.state.close();
    const other = await run(site, '2');
    expect(other).toMatchObject({ said: [], text: first.text });
    expect(other.read).toHaveLength(49);
  });

  it('is made again from the lines, and that is said, when anything in it is not as written', async () => {
    const site = await setUp();
    const first = await run(site);
    await first.state.close();
    for (const name of ['derived.jsonl', 'index.bin']) {
      const path = join(site.folder, name);
      const bytes = readFileSync(path);
      for (let at = 0; at < bytes.length; at += 101) {
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ 1;
        writeFileSync(path, flipped);
        const { said, text, read } = await run(site);
        expect([text, read.length, said.length]).toEqual([first.text, 49, 1]);
        expect(said[0]).toContain(name);
      }
      truncateSync(path, statSync(path).size - 1);
      expect(await run(site)).toMatchObject({ text: first.text, said: [expect.any(String)] });
      writeFileSync(path, bytes);
    }
    rmSync(join(site.folder, 'index.bin'));
    expect((await run(site)).text).toBe(first.text);
    rmSync(join(site.folder, 'derived.jsonl'));
    expect(await run(site)).toMatchObject({ text: first.text, said: [] });
  });

  it('is not taken for what other lines would lead to', async () => {
    const site = await setUp();
    const first = await run(site);
    await site.ledger.append([note('one way')]);
    await first.state.close();
    const other = await setUp();
    await other.ledger.append([note('another way')]);
    for (const name of ['derived.jsonl', 'index.bin']) {
      writeFileSync(join(other.folder, name), readFileSync(join(site.folder, name)));
    }
    const { said, read } = await run(other);
    expect(said[0]).toContain('made from other lines');
    expect(read).toHaveLength(50);
  });

  it('is compared with what all lines lead to, and made so when asked', async () => {
    const site = await setUp();
    const { state, all, text } = await run(site);
    expect(await state.differing(false)).toEqual([]);
    const [entry] = golden;
    for (const one of all) if (entry !== undefined && one.name !== 'timeline') one.fold(entry);
    expect(await state.differing(false)).toEqual(['dialogs']);
    expect(await state.differing(true)).toEqual(['dialogs']);
    expect(await state.differing(false)).toEqual([]);
    await state.close();
    expect(await run(site)).toMatchObject({ said: [], read: [], text });
  });

  it('survives a crash between its two files', async () => {
    const site = await setUp();
    const first = await run(site);
    await first.state.close();
    const lines = readFileSync(join(site.folder, 'derived.jsonl'));
    await site.ledger.append([note('later')]);
    const second = await run(site);
    await second.state.close();
    // The index has gone on, the lines are still the old ones.
    writeFileSync(join(site.folder, 'derived.jsonl'), lines);
    const third = await run(site);
    expect(third).toMatchObject({ said: [], read: [50], text: second.text });
    await third.state.close();
    expect(await run(site)).toMatchObject({ said: [], read: [], text: second.text });
  });

  it('is not tried again with every line while it cannot be written', async () => {
    let now = 0;
    let tries = 0;
    const none = derived(ledgerIn(temporaryFolder()));
    const state = new DerivedState({
      ledger: { read: () => [], head: () => ({ seq: 5_000, hash: '' }) },
      files: {
        read: () => Promise.resolve(undefined),
        check: () => Promise.resolve({ files: 0, damaged: [] }),
        write: () => Promise.reject(new Error(`full, ${++tries} times`)),
      },
      ...{ all: [], version: '1', index: none.timeline.index, turns: createQueue() },
      clock: { now: () => 0, monotonic: () => now },
      log: { write: () => undefined },
    } as unknown as ConstructorParameters<typeof DerivedState>[0]);
    await state.open();
    await state.check();
    for (let line = 0; line < 3; line++) {
      state.wake();
      await state.check();
    }
    expect(tries).toBe(1);
    now = 60_000;
    state.wake();
    await state.check();
    expect(tries).toBe(2);
  });
});
