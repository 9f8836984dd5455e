/** How a template gets into a file that may be somebody's already. */
export type Way = 'json' | 'block' | 'file';

export interface SetupFile {
  /** Below `templates/NAME/`. */
  readonly template: string;
  readonly way: Way;
  /** Below the project's root, or below the home folder; `@ID@` tells projects apart. */
  readonly path: string;
  readonly inHome?: boolean;
  readonly isProgram?: boolean;
}

export interface Setup {
  readonly title: string;
  readonly files: readonly SetupFile[];
  /** What is left to do by hand. */
  readonly then?: string;
}

const CLINE_EVENTS = [
  'UserPromptSubmit',
  'PreToolUse',
  'PostToolUse',
  'TaskComplete',
  'TaskCancel',
  'TaskError',
  'SessionShutdown',
];

const WRAPPER: SetupFile = {
  template: '../shell/with-smithyd',
  way: 'file',
  path: '.agentsmithy/bin/with-smithyd',
  isProgram: true,
};

/** What `smithyd setup` knows. The folder of the same name in `templates/` says more. */
export const SETUPS: Readonly<Record<string, Setup>> = {
  'claude-code': {
    title: 'Claude Code',
    files: [
      { template: 'settings.json', way: 'json', path: '.claude/settings.local.json' },
      { template: 'mcp.json', way: 'json', path: '.mcp.json' },
    ],
  },
  codex: {
    title: 'Codex CLI',
    files: [{ template: 'config.toml', way: 'block', path: '.codex/config.toml' }],
    then: 'Trust the project in Codex, and confirm the hooks once with /hooks.',
  },
  gemini: {
    title: 'Gemini CLI',
    files: [{ template: 'settings.json', way: 'json', path: '.gemini/settings.json' }],
  },
  cursor: {
    title: 'Cursor',
    files: [
      { template: 'hooks.json', way: 'json', path: '.cursor/hooks.json' },
      { template: 'mcp.json', way: 'json', path: '.cursor/mcp.json' },
    ],
  },
  cline: {
    title: 'Cline',
    files: CLINE_EVENTS.map((event) => {
      const path = `.clinerules/hooks/${event}`;
      return { template: 'hook', way: 'file', path, isProgram: true };
    }),
    then: 'Turn hooks on in the settings of Cline, and add the MCP server `smithyd mcp` there.',
  },
  opencode: {
    title: 'opencode',
    files: [
      { template: 'smithyd.js', way: 'file', path: '.opencode/plugins/smithyd.js' },
      { template: 'opencode.json', way: 'json', path: 'opencode.json' },
    ],
  },
  vscode: {
    title: 'VS Code and Copilot',
    files: [
      { template: 'smithyd.json', way: 'file', path: '.github/hooks/smithyd.json' },
      { template: 'mcp.json', way: 'json', path: '.vscode/mcp.json' },
      { template: 'copilot-mcp.json', way: 'json', path: '.github/mcp.json' },
    ],
  },
  aider: {
    title: 'Aider',
    files: [WRAPPER, { template: 'aider.conf.yml', way: 'block', path: '.aider.conf.yml' }],
    then: 'Start it as `.agentsmithy/bin/with-smithyd aider`; see also `smithyd hooks install`.',
  },
  shell: {
    title: 'any program',
    files: [WRAPPER],
    then: 'Start an agent as `.agentsmithy/bin/with-smithyd AGENT`.',
  },
  'agents-md': {
    title: 'agents that read AGENTS.md',
    files: [{ template: 'AGENTS.md', way: 'block', path: 'AGENTS.md' }],
  },
  systemd: {
    title: 'systemd',
    files: [
      {
        template: 'smithyd@.service',
        way: 'file',
        path: '.config/systemd/user/smithyd@.service',
        inHome: true,
      },
    ],
    then: 'systemctl --user enable --now "smithyd@$(systemd-escape --path "$PWD").service"',
  },
  launchd: {
    title: 'launchd',
    files: [
      {
        template: 'org.smithyd.plist',
        way: 'file',
        path: 'Library/LaunchAgents/org.smithyd.@ID@.plist',
        inHome: true,
      },
    ],
    then: 'launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/org.smithyd.@ID@.plist',
  },
};
