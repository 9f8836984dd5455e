import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { tryReach } from '../../client/reach.js';
import type { Wire } from '../../client/wire.js';
import { processEnvironment, wantsColour } from '../../config.js';
import {
  indentOf,
  withBlock,
  withoutBlock,
  withoutSettings,
  withSettings,
} from '../../core/added-settings.js';
import { SmithyError } from '../../core/errors.js';
import { didYouMean, nearest } from '../../core/nearest.js';
import { packageFile } from '../../core/package-file.js';
import { findRoot } from '../../host/find-root.js';
import { putText, SetupRecord, textIfThere, type Changed } from '../../host/setup-record.js';
import type { GlobalFlags } from '../args.js';
import type { Around } from '../local-run.js';
import { SETUPS, type SetupFile } from '../setups.js';
import { paint, printable, printableJson } from '../text.js';

const TEMPLATES = packageFile('templates/');
const MAIN = fileURLToPath(packageFile('dist/cli/main.js'));
/** A daemon that hangs keeps nobody from setting up. */
const RECORD_MS = 3_000;
const TTL_MS = 60_000;

interface Wanted {
  readonly name?: string;
  readonly yes?: boolean;
  readonly undo?: boolean;
}

type Json = Parameters<typeof withSettings>[0];

/** Adds what an agent needs to its settings, after showing it; `--undo` takes exactly that back. */
export async function setup(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const { name = '', yes = false, undo: isUndo = false } = read(words) as Wanted;
  const { title, files, then } = setupOf(name);
  const root = findRoot(globals.root, process.cwd());
  const record = new SetupRecord(root, name);
  const planned = files.map((file) => {
    const parts = { file, root, template: readTemplate(name, file, root) };
    return isUndo ? planUndo(parts, record) : planSetup(parts);
  });
  const changes = planned.filter(({ before, after }) => before !== after);
  if (!globals.json) process.stdout.write(describe(changes, title));
  const isWanted = changes.length === 0 || yes || (await isAgreed(globals));
  if (isWanted) {
    const work = () => perform(changes, record, isUndo);
    if (changes.length === 0) work();
    else await recorded(root, `smithyd setup ${name}`, work);
  }
  if (globals.json) process.stdout.write(printableJson({ name, changes, done: isWanted }));
  else if (isWanted)
    process.stdout.write(
      conclusion(changes, isUndo ? undefined : then?.replaceAll('@ID@', idOf(root))),
    );
  return isWanted ? 0 : 1;
}

/**
 * Where the project is watched our own files are no unknown changes. Of the project and not by name:
 * an ignored file that is edited by name is tracked from then on.
 */
async function recorded(root: string, tool: string, work: () => void): Promise<void> {
  const reached = await tryReach({ root }).catch(() => undefined);
  const edit = await start(reached?.wire, tool);
  try {
    work();
  } finally {
    if (edit !== undefined) {
      await reached?.wire.call('finalize_edit', edit, RECORD_MS).catch(() => undefined);
    }
    reached?.wire.close();
  }
}

async function start(
  wire: Wire | undefined,
  tool: string,
): Promise<{ readonly edit_id: string } | undefined> {
  try {
    // Detached: what was set up is not taken back because the daemon was slow to hear of its end.
    const params = { scope: 'project', tool, strategy: 'warn', detached: true, ttl_ms: TTL_MS };
    const answer = await wire?.call('start_edit', params, RECORD_MS);
    const { edit_id: id } = answer as { edit_id: string };
    return { edit_id: id };
  } catch {
    return undefined;
  }
}

function perform(changes: readonly Changed[], record: SetupRecord, isUndo: boolean): void {
  if (!isUndo && changes.length > 0) record.keep(changes);
  for (const change of changes) putText(change);
  if (isUndo) record.forget();
}

interface Parts {
  readonly file: SetupFile;
  readonly root: string;
  readonly template: string;
}

function planSetup({ file, root, template }: Parts): Changed {
  const path = placeOf(file, root);
  const before = textIfThere(path);
  return {
    path,
    before,
    after: added(path, before, { file, template }),
    isProgram: file.isProgram,
  };
}

/** To the byte if nobody has changed the file since; otherwise only ours goes. */
function planUndo({ file, root, template }: Parts, record: SetupRecord): Changed {
  const path = placeOf(file, root);
  const before = textIfThere(path);
  const kept = record.read().files.find((each) => each.path === path);
  if (before === null) return { path, before, after: null };
  // What lies at home may be there for another project.
  if (kept === undefined && file.inHome === true) return { path, before, after: before };
  if (kept?.after === before) return { path, before, after: kept.before };
  return { path, before, after: removed(path, before, { file, template }) };
}

interface Piece {
  readonly file: SetupFile;
  readonly template: string;
}

function added(path: string, before: string | null, { file, template }: Piece): string {
  switch (file.way) {
    case 'block':
      return withBlock(before ?? '', template);
    case 'file':
      if (before === null || before === template) return template;
      throw inTheWay(path);
    case 'json': {
      if (before === null || before.trim() === '') return template;
      const known = parse(path, before);
      const merged = withSettings(known, JSON.parse(template) as Json);
      return JSON.stringify(merged) === JSON.stringify(known) ? before : write(merged, before);
    }
  }
}

function removed(path: string, before: string, { file, template }: Piece): string | null {
  switch (file.way) {
    case 'block':
      return withoutBlock(before, template);
    case 'file':
      return before === template ? null : before;
    case 'json': {
      const known = parse(path, before);
      const rest = withoutSettings(known, JSON.parse(template) as Json);
      if (rest === undefined) return null;
      return JSON.stringify(rest) === JSON.stringify(known) ? before : write(rest, before);
    }
  }
}

function write(json: Json, before: string): string {
  return `${JSON.stringify(json, null, indentOf(before))}${before.endsWith('\n') ? '\n' : ''}`;
}

/** Comments would be lost by writing it again, so a file with comments is left to its owner. */
function parse(path: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new SmithyError('INVALID_PARAMS', `${path} is not plain JSON; it was left as it is.`, {
      hint: 'If it has comments: add by hand what is in the template, see `smithyd setup --help`.',
      data: { path, templates: fileURLToPath(TEMPLATES) },
    });
  }
}

function inTheWay(path: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${path} is there already and not ours.`, {
    hint: 'Move it away, or call the template from it.',
    data: { path, templates: fileURLToPath(TEMPLATES) },
  });
}

function placeOf({ path, inHome = false }: SetupFile, root: string): string {
  return join(inHome ? homedir() : root, path.replaceAll('@ID@', idOf(root)));
}

/** Short, and never that of another project. */
function idOf(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 12);
}

function readTemplate(name: string, { template }: SetupFile, root: string): string {
  const text = readFileSync(new URL(`${name}/${template}`, TEMPLATES), 'utf8');
  const escaped = (path: string) => () => escapedFor(template, path);
  return text
    .replaceAll('@NODE@', escaped(process.execPath))
    .replaceAll('@MAIN@', escaped(MAIN))
    .replaceAll('@ROOT@', escaped(root))
    .replaceAll('@ID@', idOf(root));
}

/** As a unit of systemd or XML wants it. */
function escapedFor(template: string, path: string): string {
  if (template.endsWith('.service')) {
    return path.replaceAll('%', '%%').replaceAll(/["\\]/gu, String.raw`\$&`);
  }
  return path.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function describe(changes: readonly Changed[], title: string): string {
  if (changes.length === 0) return `Nothing to do for ${title}.\n`;
  return changes.map((change) => diffOf(change)).join('');
}

/** What differs, as lines: the beginning and the end that both have are left out. */
function diffOf({ path, before, after }: Changed): string {
  const colour = wantsColour(process.stdout);
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let same = 0;
  while (same < Math.min(old.length, fresh.length) && old[same] === fresh[same]) same++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - same;
  while (tail < most && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  const gone = old.slice(same, old.length - tail).map((line) => paint(colour, 'red', `-${line}`));
  const come = fresh.slice(same, fresh.length - tail);
  const head = paint(colour, 'bold', printable(`${path}${after === null ? ' (is removed)' : ''}`));
  return `${[head, ...gone, ...come.map((line) => paint(colour, 'green', `+${line}`))].join('\n')}\n\n`;
}

function linesOf(text: string | null): string[] {
  if (text === null || text === '') return [];
  return printable(text.replace(/\n$/u, '')).split('\n');
}

async function isAgreed({ json }: GlobalFlags): Promise<boolean> {
  if (json || !process.stdin.isTTY) {
    throw new SmithyError('INVALID_PARAMS', 'Nothing was changed: nobody can be asked here.', {
      hint: 'Add --yes when the changes are wanted.',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const typed = await terminal.question('Make these changes? [y/N] ');
  terminal.close();
  return /^y(?:es)?$/iu.test(typed.trim());
}

function conclusion(changes: readonly Changed[], then: string | undefined): string {
  if (changes.length === 0) return '';
  const lines = ['Done.', ...(then === undefined ? [] : [then])];
  const path = processEnvironment['PATH'] ?? '';
  const isFound = path.split(delimiter).some((folder) => existsSync(join(folder, 'smithyd')));
  if (!isFound) lines.push('The command `smithyd` is not on your PATH: `npm link` puts it there.');
  return `${lines.join('\n')}\n`;
}

function setupOf(name: string): (typeof SETUPS)[string] {
  const known = Object.keys(SETUPS);
  const found = Object.hasOwn(SETUPS, name) ? SETUPS[name] : undefined;
  if (found !== undefined) return found;
  throw new SmithyError('INVALID_PARAMS', `setup does not know "${name}".`, {
    hint: didYouMean(nearest(name, known)) ?? `Choose one of: ${known.join(', ')}.`,
  });
}
