import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { findJsonProblem } from '../../src/core/json-guard.js';

const LIMITS = { depth: 3, elements: 10 };

/** Keys that collide often, some of them only after unescaping. */
const key = fc.constantFrom('a', 'b', 'c', 'ab', '"', '\\', 'é', '', ':', ',', '{', '}');
const spelled = fc
  .tuple(key, fc.boolean())
  .map(([name, escaped]) => ({ name, text: escaped ? escapeAll(name) : JSON.stringify(name) }));

function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

describe('JSON text is looked over before it is parsed', () => {
  it('without ever throwing, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), noise()), (text) => {
        const problem = findJsonProblem(text);
        expect(problem === undefined || problem.length > 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it('and every document a program writes passes', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        fc.pre(!text.includes('__proto__'));
        expect(findJsonProblem(text)).toBeUndefined();
      }),
    );
  });

  it('and a key that stands twice in one object is found, and only such a key', () => {
    fc.assert(
      fc.property(fc.array(spelled, { maxLength: 6 }), (keys) => {
        const text = `{"x":{${keys.map(({ text: typed }) => `${typed} : {"in":"{"}`).join(' , ')}}}`;
        const isTwice = new Set(keys.map(({ name }) => name)).size < keys.length;
        expect(() => JSON.parse(text) as unknown).not.toThrow();
        expect(findJsonProblem(text)?.includes('twice') ?? false).toBe(isTwice);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice'],
    ['{"a":{"b":1,"b":2}}', 'the key "b" stands twice'],
    ['[{"a":1},{"a":2}]', undefined],
    ['{"a":{"a":{"a":1}}}', undefined],
    ['{"a":["a","a"]}', undefined],
    ['{"x":"\\"a\\":1,\\"a\\":2"}', undefined],
    ['{"__proto__":1}', 'the key "__proto__" is not accepted'],
    ['{"\\u005f\\u005fproto__":1}', 'the key "__proto__" is not accepted'],
    ['{"x":"__proto__"}', undefined],
    ['{"constructor":1}', undefined],
  ])('%s -> %s', (text, problem) => {
    expect(findJsonProblem(text)).toBe(problem);
  });

  it('up to a depth and a number of elements', () => {
    expect(findJsonProblem('[[[]]]', LIMITS)).toBeUndefined();
    expect(findJsonProblem('[[[[]]]]', LIMITS)).toContain('deeper than 3');
    expect(findJsonProblem('[1,2,3,4,5,6,7,8,9]', LIMITS)).toBeUndefined();
    expect(findJsonProblem('[1,2,3,4,5,6,7,8,9,10,11,12]', LIMITS)).toContain('more than 10');
    expect(findJsonProblem('["[[[[[[",",,,,,,,,,,,,,,"]', LIMITS)).toBeUndefined();
  });

  it('in time that grows with its length only', () => {
    const texts = ['[', '{"a":', '"', '\\', '\\"', '{"\\\\":"\\"', ','].map((part) => {
      return part.repeat(2_000_000 / part.length);
    });
    for (const text of texts) findJsonProblem(text);
    for (const text of texts) findJsonProblem(`"${text}`);
    expect(texts).toHaveLength(7);
  });
});

function noise(): fc.Arbitrary<string> {
  const part = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ':',
    ',',
    '\\u',
    '0',
    'a',
    '__proto__',
  );
  return fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''));
}
