import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Enrichment, LineRange } from '../../src/core/semantics.js';
import { outlineCode } from '../../src/semantics/code-outline.js';
import { examine } from '../../src/semantics/examine.js';
import { grammarOf } from '../../src/semantics/grammars.js';

const PATHS = ['a.py', 'a.js', 'a.ts', 'a.tsx', 'a.yaml', 'a.json'];
const ALL: LineRange[] = [{ first: 1, last: 1_000_000 }];

function ask(path: string, text: string, ranges = ALL): Promise<Enrichment> {
  return examine({ path, content: Buffer.from(text), ranges });
}

function expectAnswer({ block, blocks, warning }: Enrichment): void {
  expect(block.kind).not.toBe('');
  expect(block.id).not.toBe('');
  expect(blocks.length).toBeGreaterThan(0);
  expect(blocks.length).toBeLessThanOrEqual(50);
  // A failure of ours inside would be answered with lines and this reason.
  expect(warning ?? '').not.toContain('cannot be read');
}

describe.each(PATHS)('%s', (path) => {
  it('gives an answer for nothing at all', async () => {
    for (const text of ['', '\n', '\uFEFF', '\r\n\r\n', ' ', '\t'])
      expectAnswer(await ask(path, text));
  });

  it('gives an answer for any text', async () => {
    const pieces = [
      ...'{}[]()<>:,;"\'`#@\\/=*&!|-? \n\t'.split(''),
      ...[
        'def f():\n',
        'class A',
        'function ',
        '=>',
        'a',
        '"a": ',
        '- ',
        '---\n',
        '/*',
        '"""',
        '${',
        '\r\n',
      ],
    ];
    const text = fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary' })));
    await fc.assert(
      fc.asyncProperty(text, async (parts) => expectAnswer(await ask(path, parts.join('')))),
      { numRuns: 100 },
    );
  });

  it('gives an answer for any bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ min: 1, maxLength: 200 }), async (content) =>
        expectAnswer(await examine({ path, content, ranges: ALL })),
      ),
      { numRuns: 100 },
    );
  });

  it('gives an answer for one huge line', async () => {
    for (const text of ['x'.repeat(250_000), '"'.repeat(50_000), `x = [${'1, '.repeat(50_000)}]`]) {
      expectAnswer(await ask(path, text));
    }
  });

  it('gives an answer for a thousand brackets', async () => {
    for (const text of ['[', '{', '(', '[]', '{"a":', 'a(() => {\n', '- ']) {
      expectAnswer(await ask(path, text.repeat(1000)));
    }
  });
});

describe('nesting that no parser should be sent into', () => {
  it.each(['[', '{', '{a: ', '- ', '? ', '- [', 'a: ['])('%s', async (step) => {
    const { warning } = await ask('a.yaml', step.repeat(400));
    expect(warning).toBe('a.yaml is nested too deeply to be examined.');
    const { warning: none } = await ask('a.yaml', step.repeat(20));
    expect(none ?? '').not.toContain('nested');
  });
});

describe('a file that is cut off anywhere', () => {
  const names = readdirSync('test/fixtures/semantics').filter((name) => name.startsWith('shop'));

  it.each(names)('still has its first definition: %s', async (name) => {
    const rows = readFileSync(`test/fixtures/semantics/${name}`, 'utf8').split('\n');
    const bar = rows[0]?.indexOf(' |') ?? 0;
    const text = rows.map((row) => row.slice(bar + 3)).join('\n');
    const path = name.replace(/\.txt$/u, '');
    const first = rows.findIndex((row) => /^(function|class):/u.test(row));
    const whole = await ask(path, text, [{ first: first + 1, last: first + 1 }]);
    const end = text
      .split('\n')
      .slice(0, first + 8)
      .join('\n').length;
    for (let length = end; length < text.length; length += 17) {
      const cut = await ask(path, text.slice(0, length), [{ first: first + 1, last: first + 1 }]);
      expect({ length, block: cut.block }).toEqual({ length, block: whole.block });
    }
  });
});

describe('a file that takes too long', () => {
  it('is given up, and the next one is read from its start', async () => {
    const grammar = await grammarOf('javascript');
    const long = 'function long() {\n  return [1, 2, 3];\n}\n'.repeat(2000);
    expect(() => outlineCode(grammar, long, 0)).toThrow('takes too long');
    const { parts, broken } = outlineCode(grammar, 'class Next {\n  run() {}\n}\n');
    expect({ names: parts.map(({ name }) => name), broken }).toEqual({
      names: ['Next', 'run'],
      broken: false,
    });
  });
});

describe('a file with more entries than can be named', () => {
  it('is lines, and the next one is not', async () => {
    const many = await ask('a.json', `[${'1,'.repeat(400_000)}1]`, [{ first: 1, last: 1 }]);
    expect(many).toEqual({
      block: { kind: 'lines', id: '1' },
      blocks: [{ kind: 'lines', id: '1' }],
      warning: 'a.json has too many entries.',
    });
    expect((await ask('a.json', '{\n"a": 1\n}', [{ first: 2, last: 2 }])).block.id).toBe('/a');
  });
});
