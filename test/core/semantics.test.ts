import { describe, expect, it } from '@jest/globals';
import { blocksOf, type Outline, type Part } from '../../src/core/outline.js';
import { languageOf, linesOnly, mergeRanges, type LineRange } from '../../src/core/semantics.js';

const part = (name: string, [first, last]: [number, number], more: Partial<Part> = {}): Part => ({
  kind: 'function',
  name,
  parent: -1,
  first,
  head: first,
  last,
  ...more,
});

//  1  import
//  2
//  3  class Cart
//  4    add
//  5    add
//  6
//  7    drop
//  8    drop
//  9  # comment
// 10  free
// 11  free
const SHOP: Outline = {
  what: 'code',
  parts: [
    part('Cart', [3, 8], { kind: 'class' }),
    part('add', [4, 5], { parent: 0 }),
    part('drop', [7, 8], { parent: 0 }),
    part('free', [10, 11]),
  ],
  leads: new Set([9]),
};
const TEXT = ['x', '', 'x', 'x', 'x', '', 'x', 'x', 'x', 'x', 'x'].join('\n');

function blocksIn(outline: Outline, ...ranges: [number, number][]): string[] {
  const lines = ranges.map(([first, last]): LineRange => ({ first, last }));
  const { block, blocks } = blocksOf(outline, { path: 'shop.py', text: TEXT }, lines);
  return [block, ...blocks].map(({ kind, id }) => `${kind}:${id}`);
}

describe('what changed lines are inside of', () => {
  it('names the method of a line, and the class of lines in two methods', () => {
    expect(blocksIn(SHOP, [5, 5])).toEqual(['method:Cart.add', 'method:Cart.add']);
    expect(blocksIn(SHOP, [5, 5], [7, 7])).toEqual([
      'class:Cart',
      'method:Cart.add',
      'method:Cart.drop',
    ]);
  });

  it('names the module when nothing smaller holds every line', () => {
    expect(blocksIn(SHOP, [8, 10])).toEqual([
      'module:shop.py',
      'method:Cart.drop',
      'function:free',
    ]);
    expect(blocksIn(SHOP, [1, 1])).toEqual(['module:shop.py', 'module:shop.py']);
  });

  it('does not let blank lines around a new function widen the answer', () => {
    expect(blocksIn(SHOP, [6, 8])[0]).toBe('method:Cart.drop');
    expect(blocksIn(SHOP, [2, 2])[0]).toBe('module:shop.py');
    expect(blocksIn(SHOP, [6, 6])[0]).toBe('class:Cart');
  });

  it('counts a comment to the function below it', () => {
    expect(blocksIn(SHOP, [9, 9])[0]).toBe('function:free');
  });

  it('takes lines that were deleted as the line before them', () => {
    expect(blocksIn(SHOP, [9, 8])[0]).toBe('method:Cart.drop');
    expect(blocksIn(SHOP, [1, 0])[0]).toBe('module:shop.py');
  });

  it('gives the file for no lines, and the last lines for numbers beyond its end', () => {
    expect(blocksIn(SHOP)).toEqual(['module:shop.py', 'module:shop.py']);
    expect(blocksIn(SHOP, [900, 1000])[0]).toBe('function:free');
    expect(blocksIn(SHOP, [-5, Infinity])[0]).toBe('module:shop.py');
    expect(blocksIn(SHOP, [NaN, 4])[0]).toBe('module:shop.py');
  });

  it('gives a line that several parts share to what is around them', () => {
    const shared: Outline = {
      ...SHOP,
      parts: [
        part('outer', [3, 8]),
        part('a', [4, 5], { parent: 0 }),
        part('deep', [5, 5], { parent: 1 }),
        part('b', [5, 6], { parent: 0 }),
        part('deep', [5, 5], { parent: 3 }),
        part('c', [5, 5], { parent: 0 }),
      ],
    };
    expect(blocksIn(shared, [5, 5])[0]).toBe('function:outer');
    expect(blocksIn(shared, [4, 4])[0]).toBe('function:outer.a');
    expect(blocksIn(shared, [6, 6], [7, 7])[0]).toBe('function:outer');
  });

  it('gives the line on which a part begins to it, not to what begins there inside of it', () => {
    const oneLine: Outline = {
      ...SHOP,
      parts: [part('Cart', [3, 3], { kind: 'class' }), part('add', [3, 3], { parent: 0 })],
    };
    expect(blocksIn(oneLine, [3, 3])[0]).toBe('class:Cart');
  });

  it('escapes the steps of a path and calls the whole file a slash', () => {
    const data: Outline = {
      what: 'json_path',
      leads: new Set(),
      parts: [
        part('a/b', [3, 8], { kind: 'entry' }),
        part('~c', [4, 5], { kind: 'entry', parent: 0 }),
      ],
    };
    expect(blocksIn(data, [5, 5])[0]).toBe('json_path:/a~1b/~0c');
    expect(blocksIn(data, [1, 1])[0]).toBe('json_path:/');
  });

  it('keeps names short, on one line and without control characters', () => {
    const odd: Outline = {
      ...SHOP,
      parts: [part('a\u001b[31m\nb', [3, 3]), part('x'.repeat(9000), [4, 4])],
    };
    expect(blocksIn(odd, [3, 3])[0]).toBe('function:a [31m b');
    expect(blocksIn(odd, [4, 4])[0]?.length).toBeLessThan(520);
  });

  it('lists at most fifty blocks', () => {
    const many = Array.from({ length: 80 }, (_, at) => part(`f${at}`, [at + 1, at + 1]));
    const text = 'x\n'.repeat(80);
    const answer = blocksOf({ ...SHOP, parts: many }, { path: 'a.py', text }, [
      { first: 1, last: 80 },
    ]);
    expect(answer.blocks).toHaveLength(50);
    expect(answer.block).toEqual({ kind: 'module', id: 'a.py' });
  });
});

describe('line ranges', () => {
  it('are put in order and joined where they touch', () => {
    const ranges = [
      { first: 9, last: 12 },
      { first: 1, last: 2 },
      { first: 3, last: 3 },
      { first: 2, last: 2 },
    ];
    expect(mergeRanges(ranges, 10)).toEqual([
      { first: 1, last: 3 },
      { first: 9, last: 10 },
    ]);
  });

  it('stand for a file whose inside is not known, with the reason', () => {
    const ranges = [
      { first: 20, last: 20 },
      { first: 12, last: 14 },
    ];
    expect(linesOnly(ranges, 'Why.')).toEqual({
      block: { kind: 'lines', id: '12-14,20' },
      blocks: [{ kind: 'lines', id: '12-14,20' }],
      warning: 'Why.',
    });
    const many = Array.from({ length: 1000 }, (_, at) => ({ first: at * 3, last: at * 3 }));
    expect(linesOnly(many, 'Why.').block.id.length).toBeLessThan(200);
  });
});

describe('the language of a file', () => {
  it('is known by its extension in any case', () => {
    expect(
      ['a.py', 'b/c.PYI', 'x.d.ts', 'x.tsx', 'x.mjs', 'x.yml', 'x.json'].map(languageOf),
    ).toEqual(['python', 'python', 'typescript', 'tsx', 'javascript', 'yaml', 'json']);
  });

  it('is unknown for everything else', () => {
    for (const path of ['a.rb', 'Makefile', '.ts', 'x.constructor', 'x.__proto__', '', 'py']) {
      expect(languageOf(path)).toBeUndefined();
    }
  });
});
