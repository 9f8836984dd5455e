import type { CliCommand, CliFlag, CliManifest } from '../core/cli-manifest.js';
import { LOCAL_COMMANDS } from './local.js';
import { columns } from './text.js';

const GLOBAL_FLAGS = [
  ['--root DIR', 'the project; default: the nearest folder above with state or a repository'],
  ['--dialog ID', 'the dialog; default: the current one'],
  ['--json', 'print the answer as JSON'],
  ['--force', 'accept a root that is very broad or somebody else’s'],
  ['--help', 'this, or help for one command'],
  ['--version', 'the version'],
] as const;

interface Topic {
  readonly command: string;
  readonly summary: string;
  readonly usage: string;
  readonly flags: readonly CliFlag[];
}

export function help(manifest: CliManifest, words: readonly string[]): string {
  const topics = allTopics(manifest);
  const asked = words.filter((word) => !word.startsWith('-')).join(' ');
  const chosen = asked === '' ? [] : topics.filter(({ command }) => matches(command, asked));
  return chosen.length > 0 ? chosen.map(describeTopic).join('\n') : overview(topics);
}

function overview(topics: readonly Topic[]): string {
  return [
    'smithyd keeps the work of coding agents safe, attributable and undoable.',
    '',
    'Usage: smithyd [--root DIR] [--dialog ID] [--json] COMMAND ..',
    '',
    'Commands:',
    columns(
      topics.map(({ command, summary }) => [command, summary] as const),
      '  ',
    ),
    '',
    'For every command:',
    columns(GLOBAL_FLAGS, '  '),
    '',
  ].join('\n');
}

function describeTopic({ command, summary, usage, flags }: Topic): string {
  const lines = [`smithyd ${command} ${usage}`.trimEnd(), '', `  ${summary}`];
  const described = flags.map((flag) => [flagUsage(flag), flagHelp(flag)] as const);
  if (described.length > 0) lines.push('', columns(described, '  '));
  return `${lines.join('\n')}\n`;
}

function allTopics(manifest: CliManifest): Topic[] {
  const local = LOCAL_COMMANDS.map(({ command, summary, usage }) => {
    return { command, summary, usage, flags: [] };
  });
  const taken = new Set(local.map(({ command }) => command));
  const remote = manifest.commands
    .filter(({ command }) => !taken.has(command))
    .map((command) => ({ ...command, usage: usageOf(command) }));
  return [...local, ...remote].sort((a, b) => (a.command < b.command ? -1 : 1));
}

function usageOf({ positional, flags, switches }: CliCommand): string {
  const placed = positional.map((field) => {
    const flag = flags.find((candidate) => candidate.field === field);
    const name = `${field.toUpperCase()}${flag?.type === 'list' ? '..' : ''}`;
    return flag?.required === true ? name : `[${name}]`;
  });
  const set = Object.keys(switches).map((name) => `[--${name}]`);
  const named = flags
    .filter(({ field }) => !positional.includes(field))
    .map((flag) => (flag.required ? flagUsage(flag) : `[${flagUsage(flag)}]`));
  return [...placed, ...set, ...named].join(' ');
}

function flagUsage({ name, type, short, word }: CliFlag): string {
  const spelled = short === undefined ? `--${name}` : `-${short}, --${name}`;
  if (word !== undefined) return `${spelled} ${word.toUpperCase()}|JSON`;
  return type === 'boolean' ? spelled : `${spelled} ${type === 'json' ? 'JSON' : 'VALUE'}`;
}

function flagHelp({ help: text = '', choices }: CliFlag): string {
  return choices === undefined ? text : `${text} One of: ${choices.join(', ')}.`.trim();
}

function matches(command: string, asked: string): boolean {
  return command === asked || command.startsWith(`${asked} `);
}
