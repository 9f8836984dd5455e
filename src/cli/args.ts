import type { CliCommand, CliFlag } from '../core/cli-manifest.js';
import { SmithyError } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';

/** What words a command takes. */
export type LineForm = Pick<CliCommand, 'positional' | 'flags' | 'switches' | 'fixed'>;
type Form = LineForm & Pick<CliCommand, 'command'>;

/** What stands before or between the words of a command. */
export interface GlobalFlags {
  root?: string;
  dialog?: string;
  json: boolean;
  help: boolean;
  version: boolean;
  force: boolean;
}

export const GLOBAL_NAMES = ['--root', '--dialog', '--json', '--force', '--help', '--version'];

/** Splits the line into flags every command has and the rest, which its command reads. */
export function readGlobals(line: readonly string[]): { globals: GlobalFlags; rest: string[] } {
  const globals: GlobalFlags = { json: false, help: false, version: false, force: false };
  const rest: string[] = [];
  for (let at = 0; at < line.length; at++) {
    const word = line[at] ?? '';
    if (word === '--') {
      rest.push(...line.slice(at));
      break;
    }
    const [name, inline] = splitFlag(word);
    if (name === '--root' || name === '--dialog') {
      globals[name === '--root' ? 'root' : 'dialog'] = inline ?? valueAfter(line, at++, '--help');
    } else if (word === '--json') globals.json = true;
    else if (word === '--help' || word === '-h') globals.help = true;
    else if (word === '--version' && rest.length === 0) globals.version = true;
    else if (word === '--force') globals.force = true;
    else rest.push(word);
  }
  refuseEmpty(globals);
  return { globals, rest: withoutEnd(rest) };
}

/** A variable that was not set: it must not come to mean the folder one happens to be in. */
function refuseEmpty({ root, dialog }: GlobalFlags): void {
  const empty = root === '' ? '--root' : dialog === '' ? '--dialog' : undefined;
  if (empty !== undefined) throw needsValue(empty, '--help');
}

/** The end of the flags, when it stands before the command; behind it, it is the command's own. */
function withoutEnd(words: string[]): string[] {
  return words[0] === '--' ? words.slice(1) : words;
}

/** The method's parameters out of the words after the command. */
export function readParams(command: Form, words: readonly string[]): Record<string, unknown> {
  const params: Record<string, unknown> = { ...command.fixed };
  const byPosition: string[] = [];
  /** By which switch a field was set. */
  const switched = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      byPosition.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      byPosition.push(word);
      continue;
    }
    const set = Object.entries(command.switches).find(([name]) => word === `--${name}`)?.[1];
    if (set !== undefined) {
      const other = switched.get(set.field) ?? word;
      if (other !== word) throw usage(`${word} cannot be given beside ${other}`, command);
      switched.set(set.field, word);
      params[set.field] = set.value;
      continue;
    }
    const [typed, inline] = splitFlag(word);
    const flag = findFlag(command, typed);
    const value =
      flag.type === 'boolean'
        ? (inline ?? 'true')
        : (inline ?? valueAfter(words, at++, `${command.command} --help`));
    setParam(params, { ...flag, typed: `--${flag.name}` }, value);
  }
  placePositionals(command, byPosition, params);
  requireAll(command, params);
  return params;
}

function placePositionals(
  command: Form,
  words: readonly string[],
  params: Record<string, unknown>,
): void {
  const { positional, flags } = command;
  if (positional.length === 0 && words.length > 0) {
    throw usage(`${command.command} takes no "${words[0] ?? ''}"`, command);
  }
  words.forEach((word, at) => {
    const field = positional[Math.min(at, positional.length - 1)];
    const flag = flags.find((candidate) => candidate.field === field);
    if (flag === undefined || (at >= positional.length && !isList(flag))) {
      throw usage(`${command.command} takes no "${word}"`, command);
    }
    setParam(params, { ...flag, typed: placedName(flag) }, word);
  });
}

/** What a word is called that means something by its place. */
function placedName({ name }: CliFlag): string {
  return name.toUpperCase();
}

/** A flag with what a person calls it who gave it this way. */
type Typed = CliFlag & { readonly typed: string };

function setParam(params: Record<string, unknown>, flag: Typed, text: string): void {
  if (!isList(flag)) {
    params[flag.field] = readValue(flag, text);
    return;
  }
  const present = params[flag.field];
  // A word that can be chosen has no comma in it, and a number neither.
  const hasCommas = flag.choices !== undefined || flag.type === 'numbers';
  const words = hasCommas ? text.split(',') : [text];
  const values = words.map((word) => readValue(flag, word));
  params[flag.field] = [...(Array.isArray(present) ? (present as unknown[]) : []), ...values];
}

/** Given once for each of its items. */
function isList({ type }: CliFlag): boolean {
  return type === 'list' || type === 'numbers' || type === 'objects';
}

function readValue(flag: Typed, text: string): unknown {
  if (flag.choices !== undefined && !flag.choices.includes(text)) {
    throw new SmithyError('INVALID_PARAMS', `${flag.typed} cannot be "${text}".`, {
      hint: `Choose one of: ${flag.choices.join(', ')}.`,
    });
  }
  switch (flag.type) {
    case 'string':
    case 'list':
      return text;
    case 'boolean':
      return readBoolean(flag, text);
    case 'number':
    case 'numbers':
      return readNumber(flag, text);
    case 'json':
    case 'objects':
      return readJson(flag, text);
  }
}

/** Whoever writes `--dry-run=1` must not get what they wanted to look at first. */
function readBoolean(flag: Typed, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new SmithyError('INVALID_PARAMS', `${flag.typed} is true or false, not "${text}".`);
}

function readNumber(flag: Typed, text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new SmithyError('INVALID_PARAMS', `${flag.typed} needs a number, not "${text}".`);
}

function readJson(flag: Typed, text: string): unknown {
  if (flag.word !== undefined && !text.trimStart().startsWith('{')) return { [flag.word]: text };
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SmithyError('INVALID_PARAMS', `${flag.typed} needs JSON, not "${text}".`);
  }
}

function requireAll(command: Form, params: Readonly<Record<string, unknown>>): void {
  const missing = command.flags.find(
    ({ field, required }) => required && params[field] === undefined,
  );
  if (missing === undefined) return;
  const isPlaced = command.positional.includes(missing.field);
  const name = isPlaced ? placedName(missing) : `--${missing.name}`;
  throw usage(`${command.command} needs ${name}`, command);
}

function findFlag(command: Form, typed: string): CliFlag {
  const found = command.flags.find(
    ({ name, short }) => typed === `--${name}` || typed === `-${short ?? ''}`,
  );
  if (found !== undefined) return found;
  const names = command.flags.map(({ name }) => `--${name}`);
  const switches = Object.keys(command.switches).map((name) => `--${name}`);
  const isText = /\s/u.test(typed);
  const hint = isText ? 'Put -- before a text that begins with a dash.' : undefined;
  throw usage(
    `${command.command} does not know ${typed}`,
    command,
    hint ?? didYouMean(nearest(typed, [...names, ...switches])),
  );
}

function usage(message: string, { command }: Form, hint?: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${message}.`, {
    hint: hint ?? `See \`smithyd ${command} --help\`.`,
  });
}

function splitFlag(word: string): [name: string, value: string | undefined] {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
}

function valueAfter(words: readonly string[], at: number, help: string): string {
  const value = words[at + 1];
  if (value !== undefined) return value;
  throw needsValue(words[at] ?? '', help);
}

function needsValue(flag: string, help: string): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${flag} needs a value.`, {
    hint: `See \`smithyd ${help}\`.`,
  });
}
