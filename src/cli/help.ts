import type { CliCommand, CliFlag, CliManifest } from '../core/cli-manifest.js';
import { columns } from './text.js';

const GLOBAL_FLAGS = [
  ['--root DIR', 'the project; default: the nearest folder above with state or a repository'],
  ['--dialog ID', 'the dialog; default: the current one'],
  ['--json', 'print the answer as JSON'],
  ['--force', 'accept a root that is very broad or somebody else’s'],
  ['--help', 'this, or help for one command'],
  ['--version', 'the version'],
] as const;

export interface Topic {
  readonly command: string;
  readonly summary: string;
  readonly usage: string;
  readonly flags: readonly CliFlag[];
}

/** Commands by what somebody wants to do, so that all of them fit on one screen. */
const GROUPS: readonly (readonly [string, readonly string[]])[] = [
  ['work', ['message', 'checkpoint', 'log', 'session', 'sessions', 'approve', 'reset', 'dialog']],
  ['go back', ['undo', 'redo', 'restore', 'rewind', 'bookmark', 'snapshot']],
  ['look', ['status', 'changes', 'diff', 'history', 'blame', 'show', 'watch', 'health', 'open']],
  ['edit', ['run', 'edit', 'unknown', 'mark', 'marks', 'unmark', 'milestone', 'note']],
  ['programs', ['browser', 'noise', 'baseline']],
  ['connect', ['setup', 'hooks', 'mcp', 'agent-hook', 'call', 'completion']],
  ['daemon', ['start', 'stop', 'config', 'doctor', 'verify', 'gc', 'metrics']],
];

/** Every command there is: those that are calls, and those that are more. */
export interface Catalogue {
  readonly manifest: CliManifest;
  readonly local: readonly (Omit<Topic, 'flags'> & Partial<Pick<Topic, 'flags'>>)[];
}

/** Undefined when there is no such command. */
export function help(catalogue: Catalogue, words: readonly string[]): string | undefined {
  const topics = allTopics(catalogue);
  const asked = words.filter((word) => !word.startsWith('-')).join(' ');
  if (asked === 'all') return everything(topics);
  if (asked === '' || asked === 'help') return overview(topics);
  const chosen = topics.filter(({ command }) => isWithin(command, asked));
  if (chosen.length > 0) return chosen.map(describeTopic).join('\n');
  // Asked for in the middle of a line: what stands behind the command is its own.
  const meant = topics.findLast(({ command }) => isWithin(asked, command));
  return meant && describeTopic(meant);
}

function overview(topics: readonly Topic[]): string {
  const names = new Set(topics.map(({ command }) => firstWord(command)));
  const grouped = new Set(GROUPS.flatMap(([, all]) => all));
  const rest = [...names].filter((name) => !grouped.has(name));
  const rows = [...GROUPS, ['more', rest] as const].map(([title, all]) => {
    return [title, all.filter((name) => names.has(name)).join(', ')] as const;
  });
  return [
    'smithyd keeps the work of coding agents safe, attributable and undoable.',
    '',
    'Usage: smithyd [--root DIR] [--dialog ID] [--json] COMMAND ..',
    '',
    columns(
      rows.filter(([, all]) => all !== ''),
      '  ',
    ),
    '',
    '`smithyd help COMMAND` explains one of them, `smithyd help all` has a line for each.',
    '',
    columns(GLOBAL_FLAGS, '  '),
    '',
  ].join('\n');
}

function everything(topics: readonly Topic[]): string {
  const lines = topics.map(({ command, summary }) => [command, summary] as const);
  return `${columns(lines, '')}\n`;
}

export function firstWord(command: string): string {
  return command.split(' ', 1)[0] ?? command;
}

function describeTopic({ command, summary, usage, flags }: Topic): string {
  const lines = [`smithyd ${command} ${usage}`.trimEnd(), '', `  ${summary}`];
  const described = flags.map((flag) => [flagUsage(flag), flagHelp(flag)] as const);
  if (described.length > 0) lines.push('', columns(described, '  '));
  return `${lines.join('\n')}\n`;
}

export function allTopics({ manifest, local: own }: Catalogue): Topic[] {
  const local = own.map(({ command, summary, usage, flags = [] }) => {
    return { command, summary, usage, flags };
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

function isWithin(words: string, group: string): boolean {
  return words === group || words.startsWith(`${group} `);
}
