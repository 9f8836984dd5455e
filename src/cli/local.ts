import type { CliFlag } from '../core/cli-manifest.js';
import { EVENT_TYPES } from '../core/event-types.js';
import type { LineForm } from './args.js';
import type { LocalRun } from './local-run.js';

export interface LocalCommand extends Partial<LineForm> {
  readonly command: string;
  readonly summary: string;
  /** Usage after the command's own words. */
  readonly usage: string;
  /** Whether `--dialog` means anything to it. */
  readonly takesDialog?: true;
  readonly load: () => Promise<LocalRun>;
}

function flag(name: string, help: string, more: Partial<CliFlag> = {}): CliFlag {
  return { name, field: name, type: 'boolean', required: false, help, ...more };
}

function value(name: string, help: string, more: Partial<CliFlag> = {}): CliFlag {
  return flag(name, help, { type: 'string', ...more });
}

const view = (name: string): readonly [string, { field: string; value: string }] => [
  name,
  { field: 'view', value: `--${name}` },
];

/** Commands that are more than one call. Each is loaded only when it is used. */
export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    command: 'start',
    summary: 'Starts the daemon for this project, in the background unless --foreground.',
    usage: '[--foreground] [--force] [--rebind]',
    flags: [
      flag('foreground', 'Stay in this terminal; Ctrl-C ends it.'),
      flag('rebind', 'Take over state that belongs to a folder of another name.'),
    ],
    load: async () => (await import('./commands/start.js')).start,
  },
  {
    command: 'stop',
    summary: 'Stops the daemon and waits until it has ended.',
    usage: '',
    load: async () => (await import('./commands/stop.js')).stop,
  },
  {
    command: 'config get',
    summary: 'Prints every setting, or the one of this name.',
    usage: '[KEY]',
    load: async () => (await import('./commands/config.js')).configGet,
  },
  {
    command: 'config set',
    summary: 'Changes a setting: its name with dots, and its value as JSON or plain text.',
    usage: 'KEY VALUE',
    load: async () => (await import('./commands/config.js')).configSet,
  },
  {
    command: 'diff',
    summary: 'Compares checkpoints, bookmarks, events, sessions, main and the files as they are.',
    usage: 'A [B] [--file PATH].. [--unified|--side-by-side|--stat|--name-status]',
    takesDialog: true,
    positional: ['from', 'to'],
    flags: [
      value('from', 'The older state.', { required: true }),
      value('to', 'The newer state; default: the files as they are.'),
      value('file', 'Only this file or folder; may be given often.', { type: 'list' }),
    ],
    switches: Object.fromEntries(['unified', 'side-by-side', 'stat', 'name-status'].map(view)),
    load: async () => (await import('./commands/diff.js')).diff,
  },
  {
    command: 'run',
    summary: 'Runs a command; whatever it changes in the project is recorded under its name.',
    usage: '[--tool NAME] [--agent NAME] [--quiet] -- COMMAND [ARGUMENT]..',
    takesDialog: true,
    flags: [
      value('tool', 'The name its changes are recorded under; default: that of the program.'),
      value('agent', 'The agent that runs it.'),
      flag('quiet', 'Say nothing about what changed.'),
    ],
    load: async () => (await import('./commands/run.js')).run,
  },
  {
    command: 'unknown',
    summary: 'Shows changes that nobody announced; takes them in or puts the known content back.',
    usage: '[FILE].. [--diff|--integrate|--reject]',
    positional: ['files'],
    flags: [
      value('files', 'Only these; default: all.', { type: 'list' }),
      flag('diff', 'Show what differs, as a patch.'),
      flag('integrate', 'Take the changes in: they are known from now on.'),
      flag('reject', 'Put the known content back; what is there is saved first.'),
    ],
    load: async () => (await import('./commands/unknown.js')).unknown,
  },
  {
    command: 'blame',
    summary: 'Shows for every line of a file who wrote it last.',
    usage: 'FILE',
    load: async () => (await import('./commands/blame.js')).blame,
  },
  {
    command: 'show',
    summary: 'Prints a file as it was at an event, a checkpoint, a bookmark or a session.',
    usage: 'AT:PATH',
    takesDialog: true,
    load: async () => (await import('./commands/show.js')).show,
  },
  {
    command: 'watch',
    summary: 'Prints events as they happen, until interrupted.',
    usage: '[--type TYPE]..',
    takesDialog: true,
    flags: [
      value('type', 'Only events of this type; may be given often.', {
        type: 'list',
        choices: EVENT_TYPES,
      }),
    ],
    load: async () => (await import('./commands/watch.js')).watch,
  },
  {
    command: 'browser',
    summary:
      'Listens to a browser, so that `changes` tells of console, requests, WebSockets and actions.',
    usage: '--url URL [--headless] | --attach PORT',
    flags: [
      value('url', 'Start a browser of our own with this page; it ends with the command.'),
      flag('headless', 'Without a window.'),
      value('attach', 'Listen to a browser that runs with --remote-debugging-port.'),
    ],
    load: async () => (await import('./commands/browser.js')).browser,
  },
  {
    command: 'hooks install',
    summary: 'Puts git hooks into this repository: a checkpoint before each commit.',
    usage: '',
    load: async () => (await import('./commands/hooks.js')).install,
  },
  {
    command: 'hooks uninstall',
    summary: 'Takes the hooks out again; what was there before is as it was.',
    usage: '',
    load: async () => (await import('./commands/hooks.js')).uninstall,
  },
  {
    command: 'hooks status',
    summary: 'Tells which git hooks are in place, and where.',
    usage: '',
    load: async () => (await import('./commands/hooks.js')).status,
  },
  {
    command: 'mcp',
    summary: 'Serves the Model Context Protocol on stdin and stdout, for an agent to start.',
    usage: '',
    load: async () => (await import('./commands/mcp.js')).mcp,
  },
  {
    command: 'open',
    summary: 'Opens the viewer in a browser, or prints an address that works once.',
    usage: '[--print]',
    flags: [flag('print', 'Print the address instead of opening it.')],
    load: async () => (await import('./commands/open.js')).open,
  },
  {
    command: 'setup',
    summary:
      'Sets an agent up to work with smithyd, after showing what changes: claude-code, codex, gemini, ' +
      'cursor, cline, opencode, vscode, aider, shell, agents-md, systemd, launchd.',
    usage: 'NAME [--yes] [--undo]',
    positional: ['name'],
    flags: [
      value('name', 'What to set up.'),
      flag('yes', 'Do not ask.'),
      flag('undo', 'Take exactly that back.'),
    ],
    load: async () => (await import('./commands/setup.js')).setup,
  },
  {
    command: 'agent-hook',
    summary: 'What agents call from their hooks, with their JSON on stdin.',
    usage: 'AGENT',
    takesDialog: true,
    load: async () => (await import('./commands/agent-hook.js')).agentHook,
  },
  {
    command: 'completion',
    summary: 'Prints a script that completes commands and flags in a shell.',
    usage: 'bash|zsh|fish',
    load: async () => (await import('./commands/completion.js')).completion,
  },
  {
    command: 'call',
    summary: 'Calls any method by its name with JSON parameters and prints the JSON answer.',
    usage: 'METHOD [JSON]',
    load: async () => (await import('./commands/call.js')).call,
  },
];
