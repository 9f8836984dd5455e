import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import type { Part } from '../../src/core/outline.js';
import { languageOf, type CodeLanguage } from '../../src/core/semantics.js';
import { outlineCode } from '../../src/semantics/code-outline.js';
import { examine } from '../../src/semantics/examine.js';
import { grammarOf } from '../../src/semantics/grammars.js';
import { outlineByTypeScript } from '../support/typescript-outline.js';

interface AskOptions {
  /** Python's parser knows no comments; the grammar counts those at the end of a body to it. */
  readonly withoutLastComments?: boolean;
}

async function outlineByGrammar(
  path: string,
  text: string,
  { withoutLastComments = false }: AskOptions = {},
): Promise<string[]> {
  const lines = text.split('\n');
  const grammar = await grammarOf(languageOf(path) as CodeLanguage);
  const { parts } = outlineCode(grammar, text);
  return parts.map((part) => {
    const around = parts[part.parent]?.kind;
    const inClass = around === 'class' || around === 'object';
    const kind = part.kind === 'function' && inClass ? 'method' : part.kind;
    let { last } = part;
    while (withoutLastComments && /^\s*(#|$)/u.test(lines[last - 1] ?? '')) last -= 1;
    return `${kind} ${namesOf(parts, part).join('.')} ${part.head}-${last}`;
  });
}

function namesOf(parts: readonly Part[], part: Part): string[] {
  const around = parts[part.parent];
  return around === undefined ? [part.name] : [...namesOf(parts, around), part.name];
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();
}

/** Enough to meet every way of writing, few enough for a test. */
function sample(files: readonly string[]): string[] {
  const step = Math.ceil(files.length / 100);
  return files.filter((_, index) => index % step === 0);
}

const SCRIPTS: readonly [string, string[]][] = [
  ['our sources', sample(filesBelow('src', '.ts'))],
  ['our tests', sample(filesBelow('test', '.ts'))],
  ['the types of Node', filesBelow('node_modules/@types/node', '.d.ts')],
  ['the code of ESLint', sample(filesBelow('node_modules/eslint/lib', '.js'))],
];

describe.each(SCRIPTS)('%s', (_, files) => {
  it("have the outline that TypeScript's own parser gives them", async () => {
    expect(files.length).toBeGreaterThan(30);
    let parts = 0;
    for (const path of files) {
      const text = readFileSync(path, 'utf8');
      const expected = outlineByTypeScript(path, text);
      expect({ path, parts: await outlineByGrammar(path, text) }).toEqual({
        path,
        parts: expected,
      });
      parts += expected.length;
    }
    expect(parts).toBeGreaterThan(300);
  });
});

describe('fixtures of TypeScript and JavaScript', () => {
  const names = readdirSync('test/fixtures/semantics').filter((name) =>
    /^(?!broken).*\.([cm]?[jt]s|tsx)\.txt$/u.test(name),
  );

  it.each(names)("have the outline that TypeScript's own parser gives them: %s", async (name) => {
    const rows = readFileSync(`test/fixtures/semantics/${name}`, 'utf8').split('\n');
    const bar = rows[0]?.indexOf(' |') ?? 0;
    const text = rows.map((row) => row.slice(bar + 3)).join('\n');
    const path = name.replace(/\.txt$/u, '');
    expect(await outlineByGrammar(path, text)).toEqual(outlineByTypeScript(path, text));
  });
});

const library = spawnSync('python3', ['-c', 'import os; print(os.path.dirname(os.__file__))']);
const onlyWithPython = library.status === 0 ? it : it.skip;

describe("Python's standard library", () => {
  onlyWithPython("has the outline that Python's own parser gives it (needs python3)", async () => {
    const folder = library.stdout.toString().trim();
    const files = readdirSync(folder).filter((name) => name.endsWith('.py'));
    const paths = sample(files.sort()).map((name) => join(folder, name));
    const asked = spawnSync('python3', ['test/fixtures/python-outline.py', ...paths], {
      maxBuffer: 64 * 1024 * 1024,
    });
    const answers = asked.stdout.toString().trim().split('\n');
    expect(answers).toHaveLength(paths.length);
    let parts = 0;
    let newer = 0;
    for (const answer of answers) {
      const { path, found } = JSON.parse(answer) as { path: string; found: string[] | null };
      const text = readFileSync(path, 'utf8');
      // A Python that is newer than the grammar may use what the grammar does not know.
      const { broken } = outlineCode(await grammarOf('python'), text);
      if (found === null || broken) {
        newer += 1;
        continue;
      }
      const outline = await outlineByGrammar(path, text, { withoutLastComments: true });
      expect({ path, parts: outline.toSorted() }).toEqual({ path, parts: found.toSorted() });
      parts += found.length;
    }
    expect(newer).toBeLessThan(paths.length / 20);
    expect(parts).toBeGreaterThan(1000);
  });
});

/** What a pointer names in a value; undefined when it names nothing. */
function resolve(value: unknown, pointer: string): unknown {
  if (pointer === '/') return value;
  let at: unknown = value;
  for (const step of pointer.slice(1).split('/')) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

async function pointersOf(path: string, text: string): Promise<[string, string][]> {
  const content = Buffer.from(text);
  const found: [string, string][] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const here = { first: index + 1, last: index + 1 };
    const { block, warning } = await examine({ path, content, ranges: [here] });
    expect(warning).toBeUndefined();
    found.push([line, block.id]);
  }
  return found;
}

const key = fc.oneof(fc.stringMatching(/^[a-z~/ "'\\#:-]{1,6}$/u), fc.constantFrom('a', 'b'));
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const anyMap = fc.dictionary(key, anyValue, { minKeys: 1, maxKeys: 5, noNullPrototype: true });

describe('any value', () => {
  it('has on each line of its JSON the path that leads to what stands there', async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, async (value) => {
        for (const [line, pointer] of await pointersOf('a.json', JSON.stringify(value, null, 1))) {
          const there = resolve(value, pointer);
          expect(there).toBeDefined();
          if (typeof there === 'object' && there !== null) continue;
          expect(line.replace(/,$/u, '').endsWith(JSON.stringify(there))).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });

  it('has on each line of its YAML a path that leads somewhere', async () => {
    await fc.assert(
      fc.asyncProperty(anyMap, async (value) => {
        for (const [line, pointer] of await pointersOf('a.yaml', stringify(value))) {
          expect({ line, found: resolve(value, pointer) !== undefined }).toEqual({
            line,
            found: true,
          });
        }
      }),
      { numRuns: 150 },
    );
  });
});
