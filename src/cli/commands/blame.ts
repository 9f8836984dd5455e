import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from '../../api/table.js';
import { wantsColour } from '../../config.js';
import { blameLines } from '../../core/blame-view.js';
import { SmithyError } from '../../core/errors.js';
import { toPath } from '../../core/paths.js';
import { findRoot } from '../../host/find-root.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { ago, paint, printable, printableJson } from '../text.js';

/** A file that is being written: after so many looks it is shown as it was last. */
const MOST_LOOKS = 5;
/** As far as git looks for a NUL. */
const BINARY_PROBE = 8000;

export async function blame(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const path = readWords(words);
  if (globals.json) {
    process.stdout.write(printableJson(await callDaemon(globals, 'blame', { path })));
    return 0;
  }
  const { answer, content } = await look(globals, path);
  process.stdout.write(draw(answer, content));
  return 0;
}

/** The answer names lines by number: it must be about the very text that is shown beside it. */
async function look(globals: GlobalFlags, path: string) {
  const root = findRoot(globals.root, process.cwd());
  const file = join(root, toPath(path, root));
  let before = read(file);
  for (let looks = 1; ; looks++) {
    const answer = (await callDaemon(globals, 'blame', { path })) as Answer<'blame'>;
    const content = read(file);
    const isSame = content !== undefined && before?.equals(content) === true;
    if (isSame || looks === MOST_LOOKS) return { answer, content: content ?? Buffer.alloc(0) };
    before = content;
  }
}

/** Undefined when there is nothing to read: the daemon says why. A FIFO would never be read to its end. */
function read(path: string): Buffer | undefined {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return readlinkSync(path, { encoding: 'buffer' });
    return stat.isFile() ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function draw({ lines: ranges, last }: Answer<'blame'>, content: Buffer): string {
  if (content.subarray(0, BINARY_PROBE).includes(0)) {
    return `A binary file has no lines to tell apart; it was changed last by ${printable(last)}.\n`;
  }
  if (content.length > 0 && ranges.length === 0) {
    return `No lines to tell apart; the whole file is by ${printable(last)}.\n`;
  }
  const texts = content.toString('utf8').split('\n');
  if (texts.at(-1) === '') texts.pop();
  const now = Date.now();
  const colour = wantsColour(process.stdout);
  const shown = blameLines(texts, ranges as Parameters<typeof blameLines>[1], {
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
    safe: (text) => printable(text).replaceAll('\n', '\\n'),
    age: (at) => ago(now - Date.parse(at)),
    quiet: (text) => paint(colour, 'dim', text),
  });
  return shown.map((line) => `${line}\n`).join('');
}

function readWords(words: readonly string[]): string {
  const named = words[0] === '--' ? words.slice(1) : words;
  const [path, ...rest] = named;
  const isFlag = path?.startsWith('-') === true && words[0] !== '--';
  if (path !== undefined && !isFlag && rest.length === 0) return path;
  throw new SmithyError('INVALID_PARAMS', 'blame needs one file.', {
    hint: 'For example: smithyd blame src/app.ts',
  });
}
