import type { Answer } from '../../api/table.js';
import { wantsColour } from '../../config.js';
import { SmithyError } from '../../core/errors.js';
import type { FileDiff } from '../../core/text-diff.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import type { Around } from '../local-run.js';
import { countLines, renderUnified } from '../diff-view.js';
import { columns, lineCounts, paint, printable, printableJson, shownPath } from '../text.js';

type Detected = Answer<'detect_unknown_modifications'>;
type Change = Detected['unknownChanges'][number];

interface Wanted {
  readonly files?: readonly string[];
  readonly diff?: boolean;
  readonly integrate?: boolean;
  readonly reject?: boolean;
}

/** What nobody announced: shown, and with a strategy decided about. */
export async function unknown(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const wanted = read(words) as Wanted;
  const { files, diff = false } = wanted;
  const strategy = strategyOf(wanted);
  const named = files === undefined ? {} : { files };
  if (strategy !== undefined) return handle(globals, { ...named, strategy });
  const answer = (await callDaemon(globals, 'detect_unknown_modifications', named)) as Detected;
  if (globals.json) process.stdout.write(printableJson(answer));
  else process.stdout.write(diff ? drawDiff(answer) : draw(answer));
  return 0;
}

async function handle(globals: GlobalFlags, params: Record<string, unknown>): Promise<number> {
  const answer = (await callDaemon(
    globals,
    'handle_unknown_changes',
    params,
  )) as Answer<'handle_unknown_changes'>;
  if (globals.json) process.stdout.write(printableJson(answer));
  else process.stdout.write(drawHandled(answer));
  // Files that could not be put back are still unknown, and a script must notice.
  return answer.success ? 0 : new SmithyError('UNKNOWN_CHANGES', answer.message).exitCode;
}

function drawHandled(answer: Answer<'handle_unknown_changes'>): string {
  const { message, modifiedFiles = [], saved = [], compensatingSnapshotId: event } = answer;
  const savedAs = new Map(saved.map(({ path, hash }) => [path, hash]));
  const rows = modifiedFiles.map((path) => {
    const hash = savedAs.get(path);
    return [shownPath(path), hash === undefined ? '' : `what was there is ${hash}`] as const;
  });
  const written = event === undefined ? [] : [`Event ${event}.`];
  return lines([
    printable(message),
    ...(rows.length === 0 ? [] : [columns(rows, '  ')]),
    ...written,
  ]);
}

function draw({ unknownChanges: changes, affectedFiles, warnings }: Detected): string {
  const colour = wantsColour(process.stdout);
  const cautions = warnings.map((text) => paint(colour, 'yellow', `! ${printable(text)}`));
  if (changes.length === 0) return lines(['No unknown changes.', ...cautions]);
  const rows = changes.map((change) => {
    const { filePath, changeType, origin } = change;
    return [
      `${changeType.padEnd(8)}  ${origin.padEnd(7)}  ${shownPath(filePath)}`,
      stat(change, colour),
    ] as const;
  });
  const count = affectedFiles.length;
  const left = count - changes.length;
  return lines([
    `${count} ${count === 1 ? 'file holds' : 'files hold'} content that nobody announced:`,
    columns(rows, '  '),
    ...(left === 0 ? [] : [`  and ${left} more`]),
    ...cautions,
    'See them with --diff; --integrate takes them in, --reject puts the known content back.',
  ]);
}

function stat({ diff }: Change, colour: boolean): string {
  if (diff === undefined) return 'not compared';
  if (/^Binary files /mu.test(diff.split('\n@@')[0] ?? '')) return 'binary';
  return lineCounts(countLines(diff), { colour });
}

function drawDiff({ unknownChanges, generatedDiff = '' }: Detected): string {
  // A pipe gets the patch as it is, so that it still applies.
  if (!process.stdout.isTTY) return generatedDiff;
  return renderUnified(unknownChanges.map(toFileDiff), {
    colour: wantsColour(process.stdout),
    width: process.stdout.columns,
  });
}

function toFileDiff({ filePath: path, changeType, diff }: Change): FileDiff {
  return {
    path,
    change: changeType === 'created' ? 'added' : changeType,
    additions: 0,
    deletions: 0,
    is_binary: false,
    is_too_large: diff === undefined,
    ...(diff === undefined ? {} : { unified: diff }),
  };
}

function strategyOf({ diff = false, integrate = false, reject = false }: Wanted) {
  if (integrate && reject) throw wrong('--integrate and --reject contradict each other.');
  if (diff && (integrate || reject)) throw wrong('--diff only shows; it decides nothing.');
  if (integrate) return 'integrate';
  return reject ? 'reject' : undefined;
}

function wrong(message: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', message, {
    hint: 'Use one of --diff, --integrate or --reject, and name files if not all are meant.',
  });
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
