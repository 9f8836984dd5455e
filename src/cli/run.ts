import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CliCommand, CliManifest } from '../core/cli-manifest.js';
import { SmithyError } from '../core/errors.js';
import { isSource, packageFile } from '../core/package-file.js';
import { readParams, type GlobalFlags } from './args.js';
import { callDaemon } from './daemon-call.js';
import { LOCAL_COMMANDS } from './local.js';
import { printableJson } from './text.js';
import { unknownCommand } from './unknown-command.js';

/** Runs one command line and answers its exit code. */
export async function run(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const manifest = await readManifest();
  if (globals.version) return print(`smithyd ${manifest.version}\n`);
  const local = longestMatch(LOCAL_COMMANDS, words);
  const remote = longestMatch(manifest.commands, words);
  if (globals.help || words.length === 0 || words[0] === 'help') {
    const { help } = await import('./help.js');
    const topic = words[0] === 'help' ? words.slice(1) : words;
    const text = help({ manifest, local: LOCAL_COMMANDS }, topic);
    if (text === undefined) throw unknownCommand(topic, manifest);
    return print(text);
  }
  // `unknown` is a command of its own, and `unknown reset` another.
  if (local !== undefined && local.command.length >= (remote?.command.length ?? 0)) {
    if (globals.dialog !== undefined && local.takesDialog !== true) throw noDialog(local.command);
    const form = { positional: [], flags: [], switches: {}, fixed: {}, ...local };
    const rest = words.slice(local.command.split(' ').length);
    const read = (line: readonly string[]) => readParams(form, line);
    return (await local.load())(globals, rest, { manifest, local: LOCAL_COMMANDS, read });
  }
  if (remote === undefined) throw unknownCommand(words, manifest);
  return callMethod(globals, remote, words.slice(remote.command.split(' ').length));
}

/** The common case: one command is one call. */
async function callMethod(
  globals: GlobalFlags,
  command: CliCommand,
  words: readonly string[],
): Promise<number> {
  const params = readParams(command, words);
  for (const field of command.places) {
    const given = params[field];
    if (typeof given === 'string') params[field] = resolve(given);
  }
  const call = { ...params, ...dialogFor(command, params, globals) };
  const answer = (await callDaemon(globals, command.method, call)) as Record<string, unknown>;
  if (globals.json) print(printableJson(answer));
  else print(await (await import('./render.js')).render(command.method, answer));
  return exitCodeOf(command, answer);
}

/** A dialog that a command names itself is not replaced by one that stands before it. */
function dialogFor(
  { command, flags }: CliCommand,
  params: Readonly<Record<string, unknown>>,
  { dialog }: GlobalFlags,
): { readonly dialog_id?: string } {
  if (dialog === undefined) return {};
  if (params['dialog_id'] !== undefined) {
    throw new SmithyError('INVALID_PARAMS', `${command} names its dialog itself.`, {
      hint: 'Leave --dialog out.',
    });
  }
  if (!flags.some(({ field }) => field === 'dialog_id')) throw noDialog(command);
  return { dialog_id: dialog };
}

function noDialog(command: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${command} takes no --dialog.`, {
    hint: 'It is about the project, whatever the dialog.',
  });
}

/** A script must notice what was answered in good order and is no good news. */
function exitCodeOf({ method }: CliCommand, answer: Record<string, unknown>): number {
  const isBad = ['doctor', 'verify'].includes(method) && answer['ok'] === false;
  return isBad ? new SmithyError('STORE_CORRUPT', 'A check failed.').exitCode : 0;
}

async function readManifest(): Promise<CliManifest> {
  if (!isSource) {
    const text = readFileSync(packageFile('dist/cli/manifest.json'), 'utf8');
    return JSON.parse(text) as CliManifest;
  }
  const [{ toCliManifest }, { METHODS }, { packageVersion }] = await Promise.all([
    import('../api/manifest.js'),
    import('../api/table.js'),
    import('../host/version.js'),
  ]);
  return toCliManifest(METHODS, packageVersion());
}

function longestMatch<Named extends { readonly command: string }>(
  commands: readonly Named[],
  words: readonly string[],
): Named | undefined {
  return commands
    .filter(({ command }) => startsWith(words, command))
    .sort((a, b) => b.command.length - a.command.length)[0];
}

function startsWith(words: readonly string[], command: string): boolean {
  return command.split(' ').every((word, at) => words[at] === word);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
