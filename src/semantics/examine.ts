import { blocksOf, type Outline } from '../core/outline.js';
import { linesOnly, languageOf, type Enrichment, type LineRange } from '../core/semantics.js';
import { outlineCode } from './code-outline.js';
import { readText } from './content.js';
import { grammarOf } from './grammars.js';
import { outlineJson } from './json-outline.js';
import { BeyondLimit } from './limits.js';
import { recoverPython } from './python-recovery.js';
import { outlineYaml } from './yaml-outline.js';

/** A file that fits into the limits, and the lines of it that changed. */
export interface Question {
  readonly path: string;
  readonly content: Uint8Array;
  readonly ranges: readonly LineRange[];
}

/** The work itself, wherever it runs. Never rejects. */
export async function examine({ path, content, ranges }: Question): Promise<Enrichment> {
  try {
    const read = readText(content);
    if (read === undefined) return linesOnly(ranges, `${path} is binary.`);
    const { text } = read;
    const outline = await outlineOf(path, text);
    if (outline === undefined) return linesOnly(ranges, `${path} is of no known language.`);
    const problems = [read.warning, outline.broken ? 'has syntax errors' : undefined];
    const warning = problems.filter((problem) => problem !== undefined).join(', ');
    const found = blocksOf(outline, { path, text }, ranges);
    return warning === '' ? found : { ...found, warning: `${path}: ${warning}.` };
  } catch (error) {
    const reason =
      error instanceof BeyondLimit ? error.message : `cannot be read: ${String(error)}`;
    return linesOnly(ranges, `${path} ${reason}.`);
  }
}

async function outlineOf(
  path: string,
  text: string,
): Promise<(Outline & { readonly broken: boolean }) | undefined> {
  const language = languageOf(path);
  if (language === undefined) return undefined;
  if (language === 'yaml') return outlineYaml(text);
  if (language === 'json') return outlineJson(text);
  const outline = outlineCode(await grammarOf(language), text);
  return language === 'python' && outline.broken ? recoverPython(outline, text) : outline;
}
