import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ascribe, BASELINE, countLines, toRanges } from '../../src/core/attribution.js';
import { createTextDiff } from '../../src/diff/text-diff.js';

const text = createTextDiff();
const bytes = (lines: readonly string[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));

function step(
  before: readonly string[],
  authors: readonly { readonly by: string }[],
  change: { readonly after: readonly string[]; readonly by: string; readonly context: number },
) {
  const sides = {
    before: { mode: '100644', content: bytes(before) },
    after: { mode: '100644', content: bytes(change.after) },
  } as const;
  const { hunks = [] } = text.file(
    { path: 'x', change: 'modified', ...sides },
    { context: change.context },
  );
  return ascribe(authors, hunks, { by: change.by });
}

describe('the author of a line', () => {
  it.each([0, 3])('stays with lines that stay (context %d)', (context) => {
    const authors = [{ by: '1' }, { by: '2' }, { by: '3' }, { by: '4' }];
    const after = ['zero', 'a', 'b', 'C', 'd', 'e'];
    expect(step(['a', 'b', 'c', 'd'], authors, { after, by: 'new', context })).toEqual(
      ['new', '1', '2', 'new', '4', 'new'].map((by) => ({ by })),
    );
  });

  it('is the writer’s for a whole new file and nobody’s for an empty one', () => {
    expect(step([], [], { after: ['a', 'b'], by: 'x', context: 0 })).toEqual([
      { by: 'x' },
      { by: 'x' },
    ]);
    expect(step(['a'], [BASELINE], { after: [], by: 'x', context: 0 })).toEqual([]);
  });

  it('follows unique lines through any history', () => {
    const line = fc.integer({ min: 0, max: 60 }).map(String);
    const version = fc.uniqueArray(line, { maxLength: 20 }).map((lines) => lines.sort(byNumber));
    fc.assert(
      fc.property(fc.array(version, { minLength: 1, maxLength: 8 }), (versions) => {
        let before: readonly string[] = [];
        let authors: readonly { readonly by: string }[] = [];
        const writer = new Map<string, string>();
        versions.forEach((after, number) => {
          const by = `v${number}`;
          authors = step(before, authors, { after, by, context: number % 4 });
          const had = new Set(before);
          for (const one of after) if (!had.has(one)) writer.set(one, by);
          before = after;
          // Lines are unique and in order, so every common line is found again.
          expect(authors.map((author) => author.by)).toEqual(after.map((one) => writer.get(one)));
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe('ranges of lines', () => {
  it('join neighbours by the same hand in the same edit', () => {
    const one = { by: 'a', edit_id: '1' };
    expect(toRanges([one, one, { by: 'a', edit_id: '2' }, BASELINE])).toEqual([
      { from: 1, to: 2, by: 'a', edit_id: '1' },
      { from: 3, to: 3, by: 'a', edit_id: '2' },
      { from: 4, to: 4, by: 'baseline' },
    ]);
    expect(toRanges([])).toEqual([]);
  });

  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n\n', 2],
  ])('count the lines of %j as %d', (content, count) => {
    expect(countLines(new TextEncoder().encode(content))).toBe(count);
  });
});

function byNumber(a: string, b: string): number {
  return Number(a) - Number(b);
}
