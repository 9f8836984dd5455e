import type { Answer } from '../../api/table.js';
import { wantsColour } from '../../config.js';
import { SmithyError } from '../../core/errors.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { renderNameStatus, renderSideBySide, renderStat, renderUnified } from '../diff-view.js';
import { printableJson, tellWarnings } from '../text.js';

const VIEWS = {
  '--unified': renderUnified,
  '--stat': renderStat,
  '--side-by-side': renderSideBySide,
  '--name-status': renderNameStatus,
} as const;

const MOST_NAMED = 10;

type View = keyof typeof VIEWS;

/** Drawn here and not by the daemon: only here is a terminal with a width. */
export async function diff(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const { places, paths, view } = readWords(words);
  const [from, to] = places;
  if (from === undefined || places.length > 2) {
    throw new SmithyError('INVALID_PARAMS', 'diff compares one or two states.', {
      hint: 'For example: smithyd diff main, or smithyd diff 1a2b3c4d session_2 --stat',
    });
  }
  const answer = (await callDaemon(globals, 'diff', {
    from,
    ...(to === undefined ? {} : { to }),
    ...(paths.length === 0 ? {} : { paths }),
    ...(globals.dialog === undefined ? {} : { dialog_id: globals.dialog }),
  })) as Answer<'diff'>;
  process.stdout.write(globals.json ? printableJson(answer) : draw(answer, view));
  const colour = wantsColour(process.stderr);
  const aside = (text: string): unknown => process.stderr.write(text);
  if (!globals.json) tellWarnings({ warnings: missing(answer) }, { colour, aside });
  return 0;
}

/** A patch that is cut must not look whole. */
function missing({ files, omitted = 0 }: Answer<'diff'>): string[] {
  const large = files.filter((file) => file.is_too_large).map(({ path }) => path);
  const unnamed = Math.max(0, large.length - MOST_NAMED) + omitted;
  const named = [
    ...large.slice(0, MOST_NAMED),
    ...(unnamed === 0 ? [] : [`${unnamed} more files`]),
  ];
  return named.length === 0 ? [] : [`Not in this diff: ${named.join(', ')}.`];
}

function draw({ files, text }: Answer<'diff'>, view: View): string {
  const colour = wantsColour(process.stdout);
  // A pipe gets the patch as it is, so that it still applies.
  if (view === '--unified' && !process.stdout.isTTY) return text;
  return VIEWS[view](files as Parameters<(typeof VIEWS)[View]>[0], {
    colour,
    width: process.stdout.isTTY ? process.stdout.columns : undefined,
  });
}

function readWords(words: readonly string[]) {
  const places: string[] = [];
  const paths: string[] = [];
  let view: View = '--unified';
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--file') paths.push(words[++at] ?? '');
    else if (Object.hasOwn(VIEWS, word)) view = word as View;
    else if (word.startsWith('-')) {
      throw new SmithyError('INVALID_PARAMS', `diff does not know ${word}.`, {
        hint: `Use ${Object.keys(VIEWS).join(', ')} or --file PATH.`,
      });
    } else places.push(word);
  }
  return { places, paths: paths.filter((path) => path !== ''), view };
}
