import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fenced, quoted, visible } from '../../src/core/untrusted-text.js';

const text = fc.string({
  unit: fc.constantFrom('`', '\n', '\u202e', '\u200b', '\u{e0041}', '\u0007', 'a', ' ', '~', '#'),
});

describe('text of others', () => {
  it('hides nothing and reads as JSON what it was', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const shown = visible(raw);
        const hidden = ['\u0007', '\u200b', '\u202e', '\u{e0041}'];
        expect(hidden.filter((sign) => shown.includes(sign))).toEqual([]);
        expect(JSON.parse(visible(JSON.stringify(raw)))).toBe(raw);
      }),
    );
  });

  it('cannot end the block it is quoted in', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const lines = fenced(raw).split('\n');
        const fence = /^`+/u.exec(lines[0] ?? '')?.[0] ?? '';
        expect(fence.length).toBeGreaterThanOrEqual(3);
        expect(lines.at(-1)).toBe(fence);
        expect(lines.slice(1, -1).filter((line) => line.includes(fence))).toEqual([]);
      }),
    );
  });

  it('within a line stays in it and is cut', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const shown = quoted(raw);
        expect(shown).not.toContain('\n');
        const fence = /^`+/u.exec(shown)?.[0] ?? '';
        const inner = shown.slice(fence.length, -fence.length);
        const runs = inner.match(/`+/gu) ?? [];
        expect(runs.every((run) => run.length !== fence.length)).toBe(true);
      }),
      { examples: [['```'], ['']] },
    );
    expect(quoted('x'.repeat(500))).toBe(`\`${'x'.repeat(200)}\`…`);
  });
});
