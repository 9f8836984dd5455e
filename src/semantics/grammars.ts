import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Language, Parser, Query } from 'web-tree-sitter';
import type { CodeLanguage } from '../core/semantics.js';
import { BeyondLimit } from './limits.js';
import { QUERIES } from './queries.js';

const require = createRequire(import.meta.url);

/** The packages also hold native addons; only these files are used, so nothing has to be built. */
const FILES: Readonly<Record<CodeLanguage, string>> = {
  python: 'tree-sitter-python/tree-sitter-python.wasm',
  javascript: 'tree-sitter-javascript/tree-sitter-javascript.wasm',
  typescript: 'tree-sitter-typescript/tree-sitter-typescript.wasm',
  tsx: 'tree-sitter-typescript/tree-sitter-tsx.wasm',
};

export interface Grammar {
  readonly parser: Parser;
  readonly query: Query;
}

const loaded = new Map<CodeLanguage, Promise<Grammar>>();
let ready: Promise<void> | undefined;

/** Loads what a language needs when it is first asked for. Rejects where its package is missing. */
export function grammarOf(language: CodeLanguage): Promise<Grammar> {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const grammar = load(language);
  loaded.set(language, grammar);
  return grammar;
}

async function load(language: CodeLanguage): Promise<Grammar> {
  const wasm = await readFile(fileOf(language));
  ready ??= Parser.init();
  await ready;
  const grammar = await Language.load(wasm);
  return {
    parser: new Parser().setLanguage(grammar),
    query: new Query(grammar, QUERIES[language]),
  };
}

function fileOf(language: CodeLanguage): string {
  const file = FILES[language];
  try {
    return require.resolve(file);
  } catch {
    // The error of the loader names folders of this machine.
    throw new BeyondLimit(`was not examined: ${dirname(file)} is not installed`);
  }
}
