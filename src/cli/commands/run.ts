import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from '../../api/table.js';
import { wantsColour } from '../../config.js';
import { SmithyError } from '../../core/errors.js';
import { findRoot } from '../../host/find-root.js';
import type { GlobalFlags } from '../args.js';
import { endBy, SignalGuard, type Ending } from '../child.js';
import { callDaemon } from '../daemon-call.js';
import { describeError } from '../errors.js';
import type { Around } from '../local-run.js';
import { describeChanges } from '../render-edits.js';
import { paint, printable, printableJson, shownPath } from '../text.js';

/** The longest there is: a command that outlives it is left incomplete, and nothing is lost. */
const TTL_MS = 24 * 60 * 60_000;
/** A daemon that reads a large project for the first time needs a while; people do not wait longer. */
const START_PATIENCE_MS = 20_000;
/** A start that was too slow is most likely through when the command has ended. */
const LATE_PATIENCE_MS = 5_000;
const MOST_NAMED = 5;
const LONGEST_NAME = 200;

interface Wanted {
  readonly command: string;
  readonly words: readonly string[];
  readonly tool: string;
  readonly agent: string | undefined;
  readonly quiet: boolean;
}

type Started = Answer<'start_edit'>;

/** Nothing the daemon does or fails to do may keep people from running their command. */
export async function run(
  globals: GlobalFlags,
  line: readonly string[],
  { read }: Around,
): Promise<number> {
  const wanted = readWords(line, read);
  // A wrong --root is a mistake to be told before anything runs.
  findRoot(globals.root, process.cwd());
  const guard = new SignalGuard();
  const starting = startEdit(globals, wanted);
  const first = await within(starting, START_PATIENCE_MS);
  if (first === undefined || first instanceof SmithyError) {
    warn(globals, 'What the command changes is not recorded.', first ?? slow());
  }
  const ending = await runUnless(guard, wanted);
  const started = first ?? (await within(starting, LATE_PATIENCE_MS));
  if (started !== undefined && !(started instanceof SmithyError)) {
    await finalize(globals, { ...wanted, quiet: wanted.quiet || 'failure' in ending }, started);
  }
  guard.release();
  if ('failure' in ending) process.stderr.write(`smithyd: ${printable(ending.failure)}\n`);
  // At once: a daemon that hangs would keep us by a call or a connection that does not end.
  process.exit('signal' in ending ? endBy(ending.signal) : ending.code);
}

/** Somebody pressed Ctrl-C before it began: then it does not begin. */
async function runUnless(guard: SignalGuard, { command, words }: Wanted): Promise<Ending> {
  return guard.held === undefined ? guard.run(command, words) : { signal: guard.held };
}

async function startEdit(globals: GlobalFlags, wanted: Wanted): Promise<Started | SmithyError> {
  const { tool, agent } = wanted;
  try {
    return (await callDaemon(globals, 'start_edit', {
      scope: 'project',
      // The edit must outlive us: what a command did is not taken back because we were killed.
      detached: true,
      ttl_ms: TTL_MS,
      tool,
      ...(agent === undefined ? {} : { agent: { name: agent } }),
      ...(globals.dialog === undefined ? {} : { dialog_id: globals.dialog }),
      // Whatever was there before is not the command's business, and no reason not to run it.
      strategy: 'warn',
    })) as Started;
  } catch (thrown) {
    return SmithyError.from(thrown);
  }
}

async function finalize(globals: GlobalFlags, wanted: Wanted, started: Started): Promise<void> {
  try {
    // Over a connection of its own: the daemon may be another one than hours ago.
    const answer = (await callDaemon(globals, 'finalize_edit', {
      edit_id: started.edit_id,
    })) as Answer<'finalize_edit'>;
    if (globals.json) process.stderr.write(printableJson(answer));
    else if (!wanted.quiet) process.stderr.write(describe(wanted.tool, answer));
  } catch (thrown) {
    const what = `What the command changed is not recorded yet, edit ${started.edit_id} is open.`;
    warn(globals, what, SmithyError.from(thrown));
  }
}

function describe(tool: string, { files, edit_id: id }: Answer<'finalize_edit'>): string {
  const colour = wantsColour(process.stderr);
  const changed = files.filter(({ change }) => change !== 'unchanged');
  const named = changed.slice(0, MOST_NAMED).map(({ path }) => shownPath(path));
  if (changed.length > MOST_NAMED) named.push(`${changed.length - MOST_NAMED} more`);
  const what = [describeChanges(changed, { colour }), named.join(', ')].filter(
    (part) => part !== '',
  );
  return `${paint(colour, 'dim', 'smithyd:')} ${shownPath(tool)}: ${what.join(': ')} (edit ${id})\n`;
}

/** The error is a warning here: the command counts, and its exit code. */
function warn({ json }: GlobalFlags, what: string, error: SmithyError): void {
  const colour = wantsColour(process.stderr);
  const { code, data, hint, cause } = error;
  const details = { data, cause, ...(hint === undefined ? {} : { hint }) };
  const told = new SmithyError(code, `${what} ${error.message}`, details);
  process.stderr.write(describeError(told, { json, colour }));
}

function slow(): SmithyError {
  return new SmithyError('TIMEOUT', `The daemon did not answer within ${START_PATIENCE_MS} ms.`, {
    hint: 'See `smithyd status`.',
  });
}

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const over = new AbortController();
  const late = pause(milliseconds, undefined, { signal: over.signal }).catch(() => undefined);
  return Promise.race([promise, late]).finally(() => over.abort());
}

/** The two dashes are needed: without them the command's own `--json` would be ours. */
function readWords(line: readonly string[], read: Around['read']): Wanted {
  const dashes = line.indexOf('--');
  const command = dashes === -1 ? undefined : line[dashes + 1];
  if (command === undefined || command === '') throw needsCommand();
  const flags = read(line.slice(0, dashes)) as Partial<Wanted>;
  const { tool = basename(command), agent, quiet = false } = flags;
  const name = tool.slice(0, LONGEST_NAME);
  return {
    command,
    words: line.slice(dashes + 2),
    tool: name === '' ? 'shell' : name,
    agent,
    quiet,
  };
}

function needsCommand(): SmithyError {
  return new SmithyError('INVALID_PARAMS', 'run needs a command after two dashes.', {
    hint: 'For example: smithyd run --agent claude -- npm test',
  });
}
