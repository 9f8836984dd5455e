import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lineChange } from '../../src/core/line-change.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const change = (before: string, after: string): string => lineChange(bytes(before), bytes(after));

describe('what became of the lines of a text', () => {
  it.each([
    ['edit_insert', 'a\nb\n', 'a\nx\nb\n'],
    ['edit_insert', 'a\nb\n', 'x\na\ny\nb\nz\n'],
    ['edit_insert', '', 'a'],
    ['edit_insert', 'a\na\n', 'a\na\na\n'],
    ['edit_delete', 'a\nx\nb\n', 'a\nb\n'],
    ['edit_delete', 'a', ''],
    ['edit_replace', 'a\nb\n', 'a\nB\n'],
    ['edit_replace', 'a\nb\n', 'b\na\n'],
    ['edit_replace', 'a\nb\n', 'b\na\nc\n'],
    ['edit_replace', 'a', 'a\nb\n'],
    ['edit_replace', 'a\n', 'a'],
    ['edit_insert', 'a\n', 'a\nb'],
  ])('is %s from %j to %j', (expected, before, after) => {
    expect(change(before, after)).toBe(expected);
  });

  it('is the same for any lines that are added to any text, however many', () => {
    const line = fc.constantFrom('a\n', 'b\n', '}\n', '\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(line, fc.boolean()), { maxLength: 200 }), (lines) => {
        const whole = lines.map(([text]) => text).join('');
        const part = lines.flatMap(([text, stays]) => (stays ? [text] : [])).join('');
        if (whole === part) return;
        expect(change(part, whole)).toBe('edit_insert');
        expect(change(whole, part)).toBe('edit_delete');
      }),
    );
  });
});
