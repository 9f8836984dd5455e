import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  renderNameStatus,
  renderSideBySide,
  renderStat,
  renderUnified,
} from '../../src/cli/diff-view.js';
import { displayWidth } from '../../src/core/display-width.js';
import type { FileDiffInput } from '../../src/core/text-diff.js';
import { createTextDiff } from '../../src/diff/text-diff.js';
import { batch } from '../support/diff-cases.js';
import { gitScratch } from '../support/git-patch.js';

const scratch = gitScratch();
afterAll(() => scratch.end());

const diffs = createTextDiff();
const file = (text: string) => ({
  mode: '100644' as const,
  content: new TextEncoder().encode(text),
});
const modified = (before: string, after: string, path = 'x'): FileDiffInput => ({
  path,
  change: 'modified',
  before: file(before),
  after: file(after),
});
const plain = (width: number) => ({ colour: false, width });
const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);
// eslint-disable-next-line no-control-regex -- colours are control characters
const COLOUR = /\u001b\[\d+m/gu;
// eslint-disable-next-line no-control-regex -- nothing of this may reach a terminal
const CONTROL = /[\0-\x09\x0b-\x1f\x7f-\x9f]/u;

describe('side by side', () => {
  it('never exceeds the width and never steers the terminal', () => {
    fc.assert(
      fc.property(batch, fc.integer({ min: 20, max: 140 }), (inputs, width) => {
        const files = inputs.map((input) => diffs.file(input));
        const text = renderSideBySide(files, plain(width));
        expect(text).not.toMatch(CONTROL);
        const widest = Math.max(...linesOf(text).map(displayWidth));
        expect(widest).toBeLessThanOrEqual(width);
        const coloured = renderSideBySide(files, { colour: true, width }).replace(COLOUR, '');
        expect(linesOf(coloured).map((line) => line.trimEnd())).toEqual(linesOf(text));
      }),
      { numRuns: 30 },
    );
  });

  it('puts removed lines beside the added ones', () => {
    const diff = diffs.file(modified('a\nb\nc\n', 'a\nB\nB2\nc'));
    expect(linesOf(renderSideBySide([diff], plain(43)))).toEqual([
      'x (modified, +3 -2)',
      '@@ -1,3 +1,4 @@',
      '1   a                │ 1   a',
      '2 - b                │ 2 + B',
      '3 - c                │ 3 + B2',
      '                     │ 4 + c',
      '                     │   \\ No newline at en',
      '                     │   \\ d of file',
    ]);
  });

  it('lines up wide letters and tabs, and wraps what is too long', () => {
    const diff = diffs.file(modified('漢字漢字漢字漢字漢字\n', '\tx\ty\n'));
    expect(linesOf(renderSideBySide([diff], plain(41))).slice(2)).toEqual([
      '1 - 漢字漢字漢字漢  │ 1 +     x   y',
      '  - 字漢字          │',
    ]);
  });

  it('cuts a line without end', () => {
    const diff = diffs.file(modified('', 'x'.repeat(100_000)));
    const lines = linesOf(renderSideBySide([diff], plain(80)));
    expect(lines.length).toBeLessThan(20);
    expect(lines.some((line) => line.endsWith('…'))).toBe(true);
  });

  it('shows a carriage return only where it is the change', () => {
    const shown = (before: string, after: string): string =>
      renderSideBySide([diffs.file(modified(before, after))], plain(80));
    expect(shown('a\r\nb\r\n', 'a\r\nc\r\n')).not.toContain('u000d');
    expect(shown('a\n', 'a\r\n')).toContain('+ a\\u000d');
  });

  it('29 says that a file is binary or too large', () => {
    const binary = diffs.file(modified('\0', '\0\0'));
    const large = diffs.file(modified('', 'x\n'), { maxBytes: 1 });
    expect(renderSideBySide([binary, large], plain(80))).toBe(
      'x (modified, binary)\n\nx (modified, too large to compare)\n',
    );
  });
});

describe('the other forms', () => {
  it('have the bars of git diff --stat', () => {
    const count = fc.oneof(fc.nat(6), fc.nat(300));
    const name = fc.constantFrom(
      'a',
      'src/core/b.ts',
      `deep/${'folder/'.repeat(9)}file.ts`,
      'l'.repeat(90),
    );
    const change = fc.tuple(name, count, count).filter(([, added, removed]) => added + removed > 0);
    let run = 0;
    fc.assert(
      fc.property(
        fc.uniqueArray(change, { minLength: 1, maxLength: 4, selector: ([path]) => path }),
        (changes) => {
          run += 1;
          const inputs = changes.map(([path, added, removed]) =>
            modified(`top\n${'old\n'.repeat(removed)}`, `top\n${'new\n'.repeat(added)}`, path),
          );
          const folder = `stat${run}`;
          for (const { path, before } of inputs)
            if (before) scratch.write(`${folder}/${path}`, before);
          scratch.git(['add', '-A', folder]);
          for (const { path, after } of inputs)
            if (after) scratch.write(`${folder}/${path}`, after);
          const git = scratch.git(['-C', folder, 'diff', '--stat=80', '--relative']).out;
          const sorted = inputs.sort((a, b) => (a.path < b.path ? -1 : 1));
          expect(
            renderStat(
              sorted.map((input) => diffs.file(input)),
              plain(80),
            ),
          ).toBe(git);
        },
      ),
      { numRuns: 12 },
    );
  });

  it('name renames, binary and large files', () => {
    const side = file('a\n');
    const files = [
      diffs.file({
        path: 'src/b/x',
        from: 'src/a/x',
        change: 'renamed',
        before: side,
        after: side,
      }),
      diffs.file(modified('\0', '\0\0', 'bin')),
      diffs.file(modified('', 'x\n'), { maxBytes: 1 }),
      diffs.file({ path: 'é\n', change: 'added', before: null, after: side }),
    ];
    expect(linesOf(renderStat(files, plain(80)))).toEqual([
      ' src/{a => b}/x |   0',
      ' bin            | Bin 1 -> 2 bytes',
      ' x              | Big',
      ' "é\\n"          |   1 +',
      ' 4 files changed, 2 insertions(+)',
    ]);
    expect(linesOf(renderNameStatus(files, plain(80)))).toEqual([
      'R100\tsrc/a/x\tsrc/b/x',
      'M\tbin',
      'M\tx',
      'A\t"é\\n"',
    ]);
  });

  it('colour a patch and disarm what is in it', () => {
    const diff = diffs.file(modified('a\n-- x\n', 'a\n\u001b[2J\n'));
    expect(linesOf(renderUnified([diff], { colour: true, width: 80 })).slice(-3)).toEqual([
      ' a',
      '\u001b[31m--- x\u001b[0m',
      '\u001b[32m+\\u001b[2J\u001b[0m',
    ]);
  });

  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['❤\ufe0f', 2],
    ['한', 2],
    ['ﾊ', 1],
    ['\ufeff', 0],
  ])('count %j as %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});
