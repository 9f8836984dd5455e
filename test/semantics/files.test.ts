import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { examine } from '../../src/semantics/examine.js';

const FOLDER = 'test/fixtures/semantics';

/** Left of the bar: what the line right of it is inside of. */
function fixture(name: string): { readonly expected: string[]; readonly lines: string[] } {
  const rows = readFileSync(`${FOLDER}/${name}.txt`, 'utf8').trimEnd().split('\n');
  const bar = rows[0]?.indexOf(' |') ?? 0;
  return {
    expected: rows.map((row) => row.slice(0, bar).trimEnd()),
    lines: rows.map((row) => row.slice(bar + 3)),
  };
}

async function blocksByLine(path: string, content: Uint8Array, count: number): Promise<string[]> {
  const found: string[] = [];
  for (let line = 1; line <= count; line += 1) {
    const { block } = await examine({ path, content, ranges: [{ first: line, last: line }] });
    found.push(`${block.kind}:${block.id}`.trimEnd());
  }
  return found;
}

const FILES = readdirSync(FOLDER).map((name) => name.replace(/\.txt$/u, ''));
const WRITTEN: readonly [string, (lines: readonly string[]) => string][] = [
  ['as it is', (lines) => lines.join('\n')],
  ['with a newline at its end', (lines) => `${lines.join('\n')}\n`],
  ['with carriage returns', (lines) => `${lines.join('\r\n')}\r\n`],
  ['with a byte order mark', (lines) => `\uFEFF${lines.join('\n')}\n`],
];

describe.each(FILES)('%s', (name) => {
  const { expected, lines } = fixture(name);

  it.each(WRITTEN)('has each line in its block, %s', async (_, write) => {
    const content = Buffer.from(write(lines));
    expect(await blocksByLine(name, content, lines.length)).toEqual(expected);
  });

  it(`${name.startsWith('broken') ? 'warns of its' : 'has no'} syntax errors`, async () => {
    const { warning } = await examine({
      path: name,
      content: Buffer.from(lines.join('\n')),
      ranges: [],
    });
    const broken = `${name}: has syntax errors.`;
    expect(warning).toBe(name.startsWith('broken') ? broken : undefined);
  });
});

describe('a file that is no UTF-8', () => {
  it('is read all the same, with a warning', async () => {
    const content = Buffer.from('def gr\xFC\xDFe():\n    return "\xE9"\n', 'latin1');
    expect(await examine({ path: 'a.py', content, ranges: [{ first: 2, last: 2 }] })).toEqual({
      block: { kind: 'function', id: 'grüße' },
      blocks: [{ kind: 'function', id: 'grüße' }],
      warning: 'a.py: not UTF-8, read as Latin-1.',
    });
  });

  it('is lines when it is binary', async () => {
    const content = Buffer.from('def f():\n    return "\0"\n', 'utf16le');
    expect(await examine({ path: 'a.py', content, ranges: [{ first: 2, last: 2 }] })).toEqual({
      block: { kind: 'lines', id: '2' },
      blocks: [{ kind: 'lines', id: '2' }],
      warning: 'a.py is binary.',
    });
  });
});
