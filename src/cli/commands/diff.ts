import type { Answer } from '../../api/table.js';
import { wantsColour } from '../../config.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import type { Around } from '../local-run.js';
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

interface Wanted {
  readonly from?: string;
  readonly to?: string;
  readonly file?: readonly string[];
  readonly view?: View;
}

/** Drawn here and not by the daemon: only here is a terminal with a width. */
export async function diff(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const { view = '--unified', file: paths, ...places } = read(words) as Wanted;
  const answer = (await callDaemon(globals, 'diff', {
    ...places,
    ...(paths === undefined ? {} : { paths }),
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
