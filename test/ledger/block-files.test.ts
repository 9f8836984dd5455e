import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventBlocks } from '../../src/core/event-blocks.js';
import { createBlockFiles } from '../../src/ledger/block-files.js';

let ledger = '';
beforeEach(() => {
  ledger = mkdtempSync(join(tmpdir(), 'smithyd-blocks-'));
});
afterEach(() => rmSync(ledger, { recursive: true, force: true }));

const open = (edition = 'one') => createBlockFiles({ ledger, edition });
const file = (name: string): string => join(ledger, 'blocks', name);

function derived(seq: number): EventBlocks {
  const block = { kind: 'function', id: `f${seq}` } as const;
  return { seq, ts: '2026-01-31T00:00:00.000Z', files: [{ path: 'a.py', block }] };
}

const seqs = (found: readonly EventBlocks[]): number[] =>
  found.map(({ seq }) => seq).sort((a, b) => a - b);

describe('kept blocks', () => {
  it('are given again, by this daemon and the next', async () => {
    const files = open();
    await files.add([derived(7), derived(999), derived(1000)], 1000);
    expect(await files.read([7])).toEqual([derived(7)]);
    expect(seqs(await open().read([7, 8, 999, 1000]))).toEqual([7, 999, 1000]);
    expect(await open().reached()).toBe(1000);
    expect(readdirSync(join(ledger, 'blocks'))).toEqual(['000000.jsonl', '000001.jsonl']);
  });

  it('are none in the beginning', async () => {
    expect(await open().read([1, 2])).toEqual([]);
    expect(await open().reached()).toBe(0);
  });

  it('whose bytes changed are not believed, and no others are lost', async () => {
    await open().add([derived(1), derived(2), derived(3)], 3);
    const whole = readFileSync(file('000000.jsonl'));
    for (let at = 0; at < whole.length; at += 1) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 4;
      writeFileSync(file('000000.jsonl'), bytes);
      for (const one of await open().read([1, 2, 3])) expect(one).toEqual(derived(one.seq));
      expect([0, 3]).toContain(await open().reached());
    }
  });

  it('come after a torn end without being torn by it', async () => {
    await open().add([derived(1), derived(2)]);
    const whole = readFileSync(file('000000.jsonl'));
    const end = whole.indexOf('\n') + 1;
    for (let cut = end; cut < whole.length; cut += 7) {
      writeFileSync(file('000000.jsonl'), whole.subarray(0, cut));
      await open().add([derived(3)]);
      expect(seqs(await open().read([3]))).toEqual([3]);
    }
  });

  it('of another edition are forgotten', async () => {
    await open('one').add([derived(1)], 1);
    expect(await open('two').read([1])).toEqual([]);
    expect(await open('two').reached()).toBe(0);
    await open('two').add([derived(2)]);
    expect(seqs(await open('two').read([1, 2]))).toEqual([2]);
    expect(await open('one').read([1, 2])).toEqual([]);
  });

  it('can be deleted while the daemon runs', async () => {
    const files = open();
    await files.add([derived(1)]);
    rmSync(file('000000.jsonl'));
    await files.add([derived(2)]);
    expect(seqs(await files.read([1, 2]))).toEqual([2]);
    rmSync(join(ledger, 'blocks'), { recursive: true });
    await files.add([derived(3)]);
    expect(seqs(await files.read([1, 2, 3]))).toEqual([3]);
  });

  it('are those of the newest million of events', async () => {
    const files = open();
    await files.add([derived(1)]);
    for (let number = 1; number < 1000; number += 1) {
      const name = `${String(number).padStart(6, '0')}.jsonl`;
      appendFileSync(file(name), 'not ours\n');
    }
    await files.add([derived(1_000_500)]);
    expect(readdirSync(join(ledger, 'blocks'))).toHaveLength(1000);
    expect(seqs(await files.read([1, 1_000_500]))).toEqual([1_000_500]);
  });

  it('of an event with very much to say are not kept', async () => {
    const block = { kind: 'json_path', id: 'x'.repeat(500) } as const;
    const files = Array.from({ length: 100 }, (_, n) => ({ path: `${n}`, block }));
    const store = open();
    await store.add([{ ...derived(1), files }, derived(2)]);
    expect(seqs(await store.read([1, 2]))).toEqual([2]);
  });
});
