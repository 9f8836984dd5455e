import { afterAll, describe, expect, it } from '@jest/globals';
import { withoutHunks } from '../../src/core/hunk-choice.js';
import type { FileDiff } from '../../src/core/text-diff.js';
import { createTextDiff } from '../../src/diff/text-diff.js';
import { gitScratch } from '../support/git-patch.js';
import { Random } from '../support/random.js';

const scratch = gitScratch();
afterAll(() => scratch.end());

function compare(before: Uint8Array, after: Uint8Array): FileDiff {
  return createTextDiff().file({
    path: 'f',
    change: 'modified',
    before: { mode: '100644', content: before },
    after: { mode: '100644', content: after },
  });
}

const bytes = (text: string, encoding: BufferEncoding = 'utf-8') => Buffer.from(text, encoding);

describe('taking back some hunks', () => {
  const before = bytes(Array.from({ length: 30 }, (_, line) => `line ${line}\n`).join(''));
  const after = bytes(
    before.toString().replace('line 2\n', 'two\n').replace('line 20\n', 'twenty\nand more\n'),
  );

  it('leaves the others to the byte', () => {
    const diff = compare(before, after);
    expect(diff.hunks).toHaveLength(2);
    expect(withoutHunks(after, diff, [1]).toString()).toBe(
      before.toString().replace('line 20\n', 'twenty\nand more\n'),
    );
    expect(withoutHunks(after, diff, [2]).toString()).toBe(
      before.toString().replace('line 2\n', 'two\n'),
    );
    expect(withoutHunks(after, diff, [2, 1])).toEqual(before);
    expect(withoutHunks(after, diff, [])).toEqual(after);
  });

  it('keeps bytes that are no UTF-8', () => {
    const old = bytes(`caf\xe9\n${'x\n'.repeat(20)}end`, 'latin1');
    const now = bytes(`th\xe9\n${'x\n'.repeat(20)}ende\n`, 'latin1');
    const diff = compare(old, now);
    expect(withoutHunks(now, diff, [1])).toEqual(
      bytes(`caf\xe9\n${'x\n'.repeat(20)}ende\n`, 'latin1'),
    );
    expect(withoutHunks(now, diff, [2])).toEqual(bytes(`th\xe9\n${'x\n'.repeat(20)}end`, 'latin1'));
  });

  it('does what git makes of a reversed patch with these hunks only', () => {
    let compared = 0;
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = new Random(seed);
      const old = Array.from({ length: random.below(60) }, () => `l${random.below(8)}\r`);
      const now = old.flatMap((line) => {
        const roll = random.below(12);
        if (roll === 0) return [];
        return roll === 1 ? [line, `new ${random.below(5)}`] : [line];
      });
      const text = (lines: string[]) => bytes(lines.join('\n') + (random.below(2) ? '\n' : ''));
      const [a, b] = [text(old), text(now)];
      const diff = compare(a, b);
      const numbers = (diff.hunks ?? []).map((_, at) => at + 1).filter(() => random.below(2) === 0);
      if (numbers.length === 0) continue;
      const parts = (diff.unified ?? '').split(/^(?=@@ )/mu);
      const patch = [parts[0], ...numbers.map((number) => parts[number])].join('');
      scratch.write('f', { mode: '100644', content: b });
      const applied = scratch.git(
        ['apply', '-R', '--unidiff-zero', '--whitespace=nowarn', '-'],
        bytes(patch),
      );
      expect(`${seed} ${applied.err}`).toBe(`${seed} `);
      expect(scratch.read('f')).toContain(
        Buffer.from(withoutHunks(b, diff, numbers)).toString('hex'),
      );
      compared += 1;
    }
    expect(compared).toBeGreaterThan(20);
  });
});
