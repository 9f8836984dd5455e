import type { GlobalFlags } from './args.js';
import type { Catalogue } from './help.js';

export type LocalRun = (
  globals: GlobalFlags,
  words: readonly string[],
  catalogue: Catalogue,
) => Promise<number>;

export interface LocalCommand {
  readonly command: string;
  readonly summary: string;
  /** Usage after the command's own words. */
  readonly usage: string;
  readonly load: () => Promise<LocalRun>;
}

/** Commands that are more than one call. Each is loaded only when it is used. */
export const LOCAL_COMMANDS: readonly LocalCommand[] = [
  {
    command: 'start',
    summary: 'Starts the daemon for this project, in the background unless --foreground.',
    usage: '[--foreground] [--force] [--rebind]',
    load: async () => (await import('./commands/start.js')).start,
  },
  {
    command: 'stop',
    summary: 'Stops the daemon and waits until it has ended.',
    usage: '',
    load: async () => (await import('./commands/stop.js')).stop,
  },
  {
    command: 'config set',
    summary: 'Changes a setting: its name with dots, and its value as JSON or plain text.',
    usage: 'KEY VALUE',
    load: async () => (await import('./commands/config-set.js')).configSet,
  },
  {
    command: 'diff',
    summary: 'Compares checkpoints, bookmarks, events, sessions, main and the files as they are.',
    usage: 'A [B] [--file PATH].. [--unified|--side-by-side|--stat|--name-status]',
    load: async () => (await import('./commands/diff.js')).diff,
  },
  {
    command: 'run',
    summary: 'Runs a command; whatever it changes in the project is recorded under its name.',
    usage: '[--tool NAME] [--agent NAME] [--quiet] -- COMMAND [ARGUMENT]..',
    load: async () => (await import('./commands/run.js')).run,
  },
  {
    command: 'unknown',
    summary: 'Shows changes that nobody announced; takes them in or puts the known content back.',
    usage: '[FILE].. [--diff|--integrate|--reject]',
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
    load: async () => (await import('./commands/show.js')).show,
  },
  {
    command: 'watch',
    summary: 'Prints events as they happen, until interrupted.',
    usage: '[--type TYPE]..',
    load: async () => (await import('./commands/watch.js')).watch,
  },
  {
    command: 'browser',
    summary:
      'Listens to a browser, so that `changes` tells of console, requests, WebSockets and actions.',
    usage: '--url URL [--headless] | --attach PORT',
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
    load: async () => (await import('./commands/open.js')).open,
  },
  {
    command: 'setup',
    summary:
      'Sets an agent up to work with smithyd, after showing what changes: claude-code, codex, gemini, ' +
      'cursor, cline, opencode, vscode, aider, shell, agents-md, systemd, launchd.',
    usage: 'NAME [--yes] [--undo]',
    load: async () => (await import('./commands/setup.js')).setup,
  },
  {
    command: 'agent-hook',
    summary: 'What agents call from their hooks, with their JSON on stdin.',
    usage: 'AGENT',
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
