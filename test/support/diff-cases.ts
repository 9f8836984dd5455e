import fc from 'fast-check';
import type { FileDiffInput, FileSide } from '../../src/core/text-diff.js';
import type { FileMode } from '../../src/core/watching.js';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

const WORDS = [
  'a',
  'b',
  'c',
  '}',
  '',
  ' ',
  '\t',
  '-- x',
  '++ x',
  '\\ No newline at end of file',
  'diff --git a/x b/x',
  '@@ -1 +1 @@',
  'é',
  'e\u0301',
  '漢字',
  '👍🏽',
  '\u2028',
  'a\rb',
  '\u001b[31m',
];

const line = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'grapheme', maxLength: 8 })
      .map((text) => text.replaceAll('\n', '')),
  },
);
const ending = fc.constantFrom('\n', '\n', '\n', '\r\n');

/** Few different lines, so that they repeat and move; any ending, and none at the end. */
const text = fc
  .tuple(fc.array(fc.tuple(line, ending), { maxLength: 24 }), fc.boolean(), fc.boolean())
  .map(([lines, cut, mark]) => {
    const whole = lines.map(([words, end]) => words + end).join('');
    // A NUL early on is another thing: a binary file.
    const joined = (cut ? whole.replace(/\r?\n$/u, '') : whole).replaceAll('\0', '');
    return mark ? `\ufeff${joined}` : joined;
  });

/** Bytes that are no UTF-8, and no NUL. */
const latin1 = fc
  .array(fc.constantFrom(0x61, 0xe9, 0xff, 0x0a, 0x0d, 0x80), { maxLength: 30 })
  .map((bytes) => Uint8Array.from(bytes));

const content = fc.oneof(
  { weight: 5, arbitrary: text.map(encode) },
  { weight: 1, arbitrary: latin1 },
);

const NAME_CHARS = Array.from('ab c"\\\t\n\r\u0001\u007fé漢👍-:*?{}=>\u0301');
const name = fc
  .array(fc.constantFrom(...NAME_CHARS), { minLength: 1, maxLength: 6 })
  .map((chars) => `n${chars.join('')}`);
const oddName = fc.oneof(
  name,
  name.map((word) => ` ${word} `),
  fc.constantFrom('x b/x', 'a/b', 'b', '-rf', '"', '\\', 'x => y', '{x}', '...', 'dev/null'),
);

const mode = fc.constantFrom<FileMode>('100644', '100755');
const file: fc.Arbitrary<FileSide> = fc.record({ mode, content });
const link: fc.Arbitrary<FileSide> = fc
  .constantFrom('x', '../y z', '漢', 'two\nlines')
  .map((target) => ({ mode: '120000', content: encode(target) }));
const side = fc.oneof({ weight: 6, arbitrary: file }, { weight: 1, arbitrary: link });

/** Often a few edits of the first side rather than an unrelated one. */
const pair = fc.oneof(
  fc.tuple(side, side),
  fc
    .tuple(file, mode)
    .map(([before, next]): [FileSide, FileSide] => [before, { ...before, mode: next }]),
  fc.tuple(file, fc.nat(), text.map(encode)).map(([before, at, put]): [FileSide, FileSide] => {
    const bytes = before.content ?? new Uint8Array();
    const place = at % (bytes.length + 1);
    const after = Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place)]);
    return [before, { ...before, content: Uint8Array.from(after) }];
  }),
);

/** One change of any kind below a folder of its own. */
function change(folder: string): fc.Arbitrary<FileDiffInput> {
  const path = oddName.map((odd) => `${folder}/${odd}`);
  return fc.oneof(
    fc
      .record({ path, after: side })
      .map((given): FileDiffInput => ({ ...given, change: 'added', before: null })),
    fc
      .record({ path, before: side })
      .map((given): FileDiffInput => ({ ...given, change: 'deleted', after: null })),
    fc.record({ path, pair }).map(({ path: at, pair: [before, after] }): FileDiffInput => ({
      path: at,
      change: 'modified',
      before,
      after,
    })),
    fc
      .record({ path, pair, name: oddName })
      .map(({ path: at, pair: [before, after], name: old }): FileDiffInput => ({
        path: at,
        from: `${folder}/old/${old}`,
        change: 'renamed',
        before,
        after,
      })),
  );
}

/** A batch of changes that do not meet each other: one run of git answers for all of them. */
export const batch = fc
  .integer({ min: 1, max: 40 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, at) => change(`case${at}`))));

/** Lines that are all different: there is only one way to align two versions. */
export const versions = fc
  .tuple(
    fc.integer({ min: 0, max: 30 }),
    fc.array(fc.tuple(fc.nat(30), fc.constantFrom('cut', 'put', 'swap')), { maxLength: 6 }),
    fc.array(fc.tuple(fc.nat(30), fc.constantFrom('cut', 'put', 'swap')), { maxLength: 6 }),
  )
  .map(([size, ours, theirs]) => {
    const base = Array.from({ length: size }, (_, at) => `line ${at}\n`);
    const edit = (who: string, steps: readonly (readonly [number, string])[]): string => {
      const lines = [...base];
      for (const [count, [at, what]] of steps.entries()) {
        const place = at % (lines.length + 1);
        const put = what === 'cut' ? [] : [`${who} ${count}\n`];
        lines.splice(place, what === 'put' ? 0 : 1, ...put);
      }
      return lines.join('');
    };
    return { base: base.join(''), ours: edit('ours', ours), theirs: edit('theirs', theirs) };
  });

export { content, text };
