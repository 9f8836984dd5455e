import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { patchBytes, type FileDiff, type FileDiffInput } from '../../src/core/text-diff.js';
import { createTextDiff } from '../../src/diff/text-diff.js';
import { batch, versions } from '../support/diff-cases.js';
import { expected, gitScratch } from '../support/git-patch.js';

const scratch = gitScratch();
afterAll(() => scratch.end());

const diffs = createTextDiff();
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const file = (text: string | Uint8Array) => ({
  mode: '100644' as const,
  content: typeof text === 'string' ? encode(text) : text,
});
const modified = (before: string | Uint8Array, after: string | Uint8Array): FileDiffInput => ({
  path: 'x',
  change: 'modified',
  before: file(before),
  after: file(after),
});

let runs = 0;

/** Writes every file as it was, lets git apply all patches at once, reads what came out. */
function applied(inputs: readonly FileDiffInput[]): { given: string[]; wanted: string[] } {
  runs += 1;
  const at = (path: string): string => `run${runs}/${path}`;
  const placed = inputs.map((input) => ({
    ...input,
    path: at(input.path),
    ...(input.from === undefined ? {} : { from: at(input.from) }),
  }));
  for (const { path, from = path, before } of placed) if (before) scratch.write(from, before);
  const patch = Buffer.concat(placed.map((input) => patchBytes(diffs.file(input))));
  if (patch.length > 0) {
    const { status, err } = scratch.git(['apply', '--whitespace=nowarn', '-'], patch);
    if (status !== 0) throw new Error(`${err}\n${patch.toString('utf8')}`);
  }
  const given = placed.map(({ path, from }) => {
    return `${scratch.read(path)} ${from === undefined ? 'absent' : scratch.read(from)}`;
  });
  return { given, wanted: placed.map(({ after }) => `${expected(after)} absent`) };
}

describe('a patch', () => {
  it('turns what was into what is, byte for byte, when git applies it', () => {
    fc.assert(
      fc.property(batch, (inputs) => {
        const { given, wanted } = applied(inputs);
        expect(given).toEqual(wanted);
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ['an empty file filled', '', 'a'],
    ['a file emptied', 'a\n', ''],
    ['a final newline added', 'a', 'a\n'],
    ['a final newline removed', 'a\nb\n', 'a\nb'],
    ['unchanged lines before an end without newline', 'a\nb\nc', 'x\nb\nc'],
    ['mixed endings', 'a\r\nb\nc\r\n', 'a\nb\r\nc\r\n'],
    ['a byte order mark removed', '\ufeffa\n', 'a\n'],
    [
      'a NUL behind the place git looks at',
      `${'x\n'.repeat(5000)}\0\n`,
      `${'x\n'.repeat(5000)}\0y\n`,
    ],
  ])('30 is exact for %s', (_, before, after) => {
    const { given, wanted } = applied([modified(before, after)]);
    expect(given).toEqual(wanted);
  });

  it('26 of the exec bit alone has a mode and no lines', () => {
    const diff = diffs.file({
      path: 'run.sh',
      change: 'modified',
      before: { mode: '100644', content: encode('a\n') },
      after: { mode: '100755', content: encode('a\n') },
    });
    expect(diff).toMatchObject({ additions: 0, deletions: 0, hunks: [] });
    expect(diff.unified).toBe('diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\n');
  });

  it('14 shows names of any script unescaped', () => {
    const names = ['é', 'e\u0301', '漢字 x', '👍'];
    for (const path of names) {
      const { unified } = diffs.file({ ...modified('a\n', 'b\n'), path });
      expect(unified).toContain(`diff --git a/${path} b/${path}\n`);
    }
    const { unified } = diffs.file({ ...modified('a\n', 'b\n'), path: 'tab\té"\\' });
    expect(unified).toContain('--- "a/tab\\té\\"\\\\"\n');
  });

  it('29 of a binary file says so and has no lines', () => {
    const diff = diffs.file(modified(Uint8Array.of(1, 0, 2), 'text\n'));
    expect(diff).toMatchObject({ is_binary: true, additions: 0, deletions: 0, bytes_before: 3 });
    expect(diff.hunks).toBeUndefined();
    expect(diff.unified).toBe('diff --git a/x b/x\nBinary files a/x and b/x differ\n');
  });

  it('counts lines as git does', () => {
    fc.assert(
      fc.property(fc.array(versions, { minLength: 1, maxLength: 20 }), (cases) => {
        runs += 1;
        const folder = `count${runs}`;
        const ours: string[] = [];
        for (const [at, { ours: before, theirs: after }] of cases.entries()) {
          scratch.write(`${folder}/before/${at}`, file(before));
          scratch.write(`${folder}/after/${at}`, file(after));
          const { additions, deletions } = diffs.file(modified(before, after));
          if (before !== after) ours.push(`${additions} ${deletions} ${at}`);
        }
        const { out } = scratch.git([
          ...['diff', '--no-index', '--numstat', '--no-renames', '-z'],
          ...[`${folder}/before`, `${folder}/after`],
        ]);
        const fields = out.split('\0').slice(0, -1);
        const theirs: string[] = [];
        // With -z: `added TAB deleted TAB` and then both names.
        for (let at = 0; at < fields.length; at += 3) {
          const [added = '', deleted = ''] = (fields[at] ?? '').split('\t');
          theirs.push(`${added} ${deleted} ${(fields[at + 1] ?? '').split('/').at(-1) ?? ''}`);
        }
        expect([...theirs].sort()).toEqual(ours.sort());
      }),
      { numRuns: 8 },
    );
  });

  it('counts the lines it shows', () => {
    fc.assert(
      fc.property(batch, (inputs) => {
        for (const diff of inputs.map((input) => diffs.file(input))) {
          const marks = (diff.hunks ?? []).flatMap(({ lines }) => lines.map(({ mark }) => mark));
          expect(marks.filter((mark) => mark === '+')).toHaveLength(diff.additions);
          expect(marks.filter((mark) => mark === '-')).toHaveLength(diff.deletions);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('a file that is too large', () => {
  const flagged = (diff: FileDiff) => ({
    large: diff.is_too_large,
    text: diff.unified ?? diff.hunks,
    counts: [diff.additions, diff.deletions],
  });

  it('is flagged by its bytes, by its lines and when it was not loaded', () => {
    const long = 'x'.repeat(1024 * 1024);
    expect(flagged(diffs.file(modified('a\n', `${long}\n`)))).toEqual({
      large: true,
      text: undefined,
      counts: [1, 1],
    });
    expect(flagged(diffs.file(modified('', 'x\n'.repeat(20_001)))).counts).toEqual([20_001, 0]);
    const unloaded = { ...modified('', ''), after: { mode: '100644' as const, content: null } };
    expect(flagged(diffs.file(unloaded))).toEqual({ large: true, text: undefined, counts: [0, 0] });
    expect(flagged(diffs.file(modified('', 'x\n'.repeat(20_000)))).large).toBe(false);
  });

  it('still counts only around what changed', () => {
    const lines = Array.from({ length: 20_001 }, (_, at) => `line ${at}\n`);
    const before = lines.join('');
    lines.splice(500, 2, 'other\n');
    expect(flagged(diffs.file(modified(before, lines.join('')))).counts).toEqual([1, 2]);
  });

  it('never counts less than what changed', () => {
    fc.assert(
      fc.property(versions, ({ ours, theirs }) => {
        const exact = diffs.file(modified(ours, theirs));
        const rough = diffs.file(modified(ours, theirs), { maxBytes: 0 });
        expect(rough.additions).toBeGreaterThanOrEqual(exact.additions);
        expect(rough.deletions).toBeGreaterThanOrEqual(exact.deletions);
        expect(rough.additions - rough.deletions).toBe(exact.additions - exact.deletions);
      }),
    );
  });

  it('is still a patch when only its name or mode changed', () => {
    const big = encode('x\n'.repeat(30_000));
    const side = { mode: '100644' as const, content: big };
    const diff = diffs.file({ path: 'b', from: 'a', change: 'renamed', before: side, after: side });
    expect(diff).toMatchObject({ is_too_large: false, similarity: 100 });
    expect(diff.unified).toContain('rename from a\nrename to b\n');
  });
});

describe('a pair that takes too many edits', () => {
  it('is shown as replaced, and applies', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}\n`);
    const before = ['same\n', ...lines, 'end\n'].join('');
    const after = ['same\n', ...[...lines].reverse(), 'end\n'].join('');
    const diff = diffs.file(modified(before, after), { maxEdits: 10 });
    expect(diff).toMatchObject({ additions: 40, deletions: 40 });
    expect(diff.hunks).toHaveLength(1);
    scratch.write('x', file(before));
    expect(scratch.git(['apply', '-'], patchBytes(diff)).err).toBe('');
    expect(scratch.read('x')).toBe(expected(file(after)));
  });

  it('does not include a file whose lines were all rewritten', () => {
    const before = Array.from({ length: 15_000 }, (_, at) => `before ${at}\n`).join('');
    const after = before.replaceAll('before', 'after').replace('after 7000\n', 'before 7000\n');
    expect(diffs.file(modified(before, after)).additions).toBe(14_999);
  });
});
