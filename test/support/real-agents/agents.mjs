/**
 * The agents that are on npm and run without a terminal: where their program is, how they are told of a
 * model that is not their maker's, how updates and telemetry are switched off, and what their tools are called.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PLATFORM = `${process.platform}-${process.arch}`;
const TRIPLE = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
const KEY = 'not-a-key';

/**
 * With every agent the model edits `greeting.txt`, makes `new.txt` with the agent's own tools and `made.txt`
 * with a command, and tries `held.txt`, which somebody else is editing.
 */
export const PROMPT = 'Greet the world';
const COMMAND = "printf 'made\\n' > made.txt";
export const FILES = { 'greeting.txt': 'hello\n', 'held.txt': 'mine\n' };

/** With models of OpenAI agents offer a tool for patches instead of those for files. */
const PATCHES = [
  patch('*** Update File: greeting.txt\n@@\n-hello\n+hello world', '*** Add File: new.txt\n+new'),
  patch('*** Update File: held.txt\n@@\n-mine\n+theirs'),
];

const CLAUDE_STATUS = 'mcp__smithyd__status';

const claudeCode = {
  name: 'claude-code',
  npm: '@anthropic-ai/claude-code',
  program: [`@anthropic-ai/claude-code-${PLATFORM}/claude`],
  env: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  }),
  arguments: [
    ...['-p', PROMPT, '--model', 'claude-sonnet-4-5', '--permission-mode', 'acceptEdits'],
    ...['--allowedTools', 'Bash,mcp__smithyd'],
  ],
  script: (root) => [
    { tool: /^Read$/u, input: { file_path: join(root, 'greeting.txt') } },
    {
      tool: /^Edit$/u,
      input: {
        file_path: join(root, 'greeting.txt'),
        old_string: 'hello',
        new_string: 'hello world',
      },
    },
    { tool: /^Write$/u, input: { file_path: join(root, 'new.txt'), content: 'new\n' } },
    { tool: /^Read$/u, input: { file_path: join(root, 'held.txt') } },
    {
      tool: /^Edit$/u,
      input: { file_path: join(root, 'held.txt'), old_string: 'mine', new_string: 'theirs' },
    },
    { tool: /^Bash$/u, input: { command: COMMAND, description: 'Makes a file' } },
    { tool: /^ToolSearch$/u, input: { query: `select:${CLAUDE_STATUS}`, max_results: 1 } },
    { tool: /^mcp__smithyd__status$/u, input: {}, unlisted: CLAUDE_STATUS },
  ],
};

const codex = {
  name: 'codex',
  npm: '@openai/codex',
  program: [`@openai/codex-${PLATFORM}/vendor/${TRIPLE}/bin/codex`],
  env: () => ({ SCRIPTED_KEY: KEY }),
  arguments: [
    ...['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
    ...['--dangerously-bypass-hook-trust', PROMPT],
  ],
  prepare: ({ home, root, url }) =>
    put(join(home, '.codex/config.toml'), [
      'model = "gpt-5.5"',
      'model_provider = "scripted"',
      'check_for_update_on_startup = false',
      '[model_providers.scripted]',
      'name = "scripted"',
      `base_url = "${url}/v1"`,
      'env_key = "SCRIPTED_KEY"',
      'wire_api = "responses"',
      '[analytics]',
      'enabled = false',
      `[projects."${root}"]`,
      'trust_level = "trusted"',
    ]),
  script: () => [
    ...PATCHES.map((input) => ({ tool: /^apply_patch$/u, input })),
    { tool: /^exec_command$/u, input: { cmd: COMMAND } },
    { tool: /^tool_search$/u, input: { query: 'smithyd status of the daemon' } },
    { tool: /^status$/u, input: {} },
  ],
};

const gemini = {
  name: 'gemini',
  npm: '@google/gemini-cli',
  program: [process.execPath, '@google/gemini-cli/bundle/gemini.js'],
  env: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: KEY,
    GEMINI_TELEMETRY_ENABLED: 'false',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }),
  arguments: ['-p', PROMPT, '-m', 'gemini-2.5-pro', '--yolo', '--skip-trust'],
  prepare: ({ home }) =>
    put(join(home, '.gemini/settings.json'), [
      JSON.stringify({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
    ]),
  script: (root) => [
    {
      tool: /^replace$/u,
      input: {
        file_path: join(root, 'greeting.txt'),
        instruction: 'Greet the world',
        old_string: 'hello',
        new_string: 'hello world',
      },
    },
    { tool: /^write_file$/u, input: { file_path: join(root, 'new.txt'), content: 'new\n' } },
    { tool: /^write_file$/u, input: { file_path: join(root, 'held.txt'), content: 'theirs\n' } },
    { tool: /^run_shell_command$/u, input: { command: COMMAND, description: 'Makes a file' } },
    { tool: /smithyd.*status$/u, input: {} },
  ],
};

const opencode = {
  name: 'opencode',
  npm: 'opencode-ai',
  program: [`opencode-${PLATFORM}/bin/opencode`],
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_SHARE: '1',
  }),
  arguments: ['run', '--model', 'scripted/scripted', '--auto', PROMPT],
  // Without a network it asks a registry for more than a minute, unless it is told that there is none.
  prepare: ({ home, url }) => {
    put(join(home, '.npmrc'), ['offline=true', 'fetch-retries=0']);
    put(join(home, '.config/opencode/opencode.json'), [
      JSON.stringify({
        autoupdate: false,
        share: 'disabled',
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: KEY },
            models: Object.fromEntries(
              ['scripted', 'gpt-5'].map((name) => [
                name,
                { name, limit: { context: 200_000, output: 8_000 } },
              ]),
            ),
          },
        },
      }),
    ]);
  },
  script: (root) => [
    { tool: /^read$/u, input: { filePath: join(root, 'greeting.txt') } },
    {
      tool: /^edit$/u,
      input: {
        filePath: join(root, 'greeting.txt'),
        oldString: 'hello',
        newString: 'hello world',
      },
    },
    { tool: /^write$/u, input: { filePath: join(root, 'new.txt'), content: 'new\n' } },
    { tool: /^read$/u, input: { filePath: join(root, 'held.txt') } },
    {
      tool: /^edit$/u,
      input: { filePath: join(root, 'held.txt'), oldString: 'mine', newString: 'theirs' },
    },
    { tool: /^bash$/u, input: { command: COMMAND, description: 'Makes a file' } },
    { tool: /smithyd.*status$/u, input: {} },
  ],
};

const cline = {
  name: 'cline',
  npm: 'cline',
  program: [`@cline/cli-${PLATFORM}/bin/cline`],
  env: () => ({ CLINE_TELEMETRY_DISABLED: '1', CLINE_NO_AUTO_UPDATE: '1' }),
  before: (url) => [
    ...['auth', '--provider', 'openai', '--apikey', KEY, '--modelid', 'scripted'],
    ...['--baseurl', `${url}/v1`],
  ],
  arguments: ['--auto-approve', 'true', '--json', PROMPT],
  // A refusal ends its run, so it is the last thing that it is told.
  script: (root) => [
    {
      tool: /^editor$/u,
      input: { path: join(root, 'greeting.txt'), old_text: 'hello', new_text: 'hello world' },
    },
    { tool: /^editor$/u, input: { path: join(root, 'new.txt'), new_text: 'new\n' } },
    { tool: /^run_commands$/u, input: { commands: [COMMAND] } },
    {
      tool: /^editor$/u,
      input: { path: join(root, 'held.txt'), old_text: 'mine', new_text: 'theirs' },
    },
  ],
  message: 'cline began to work',
  endsWhenRefused: /"finishReason":"aborted"/u,
  withoutMcp: 'set-up leaves MCP to the user',
};

const copilot = {
  name: 'vscode',
  title: 'vscode (Copilot CLI)',
  npm: '@github/copilot',
  program: [`@github/copilot-${PLATFORM}/copilot`],
  env: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_API_KEY: KEY,
    COPILOT_MODEL: 'scripted',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  arguments: [
    ...['-p', PROMPT, '--trust-folder', '--allow-all-tools', '--allow-all-paths'],
    '--disable-client-telemetry',
  ],
  script: (root) => [
    {
      tool: /^edit$/u,
      input: { path: join(root, 'greeting.txt'), old_str: 'hello', new_str: 'hello world' },
    },
    { tool: /^create$/u, input: { path: join(root, 'new.txt'), file_text: 'new\n' } },
    {
      tool: /^edit$/u,
      input: { path: join(root, 'held.txt'), old_str: 'mine', new_str: 'theirs' },
    },
    { tool: /^bash$/u, input: { command: COMMAND, description: 'Makes a file' } },
    { tool: /smithyd.*status$/u, input: {} },
  ],
};

const copilotPatches = {
  ...copilot,
  title: 'vscode (Copilot CLI, patches)',
  env: (url) => ({
    ...copilot.env(url),
    COPILOT_MODEL: 'gpt-5.4',
    COPILOT_PROVIDER_WIRE_API: 'responses',
  }),
  script: (root) => [
    ...PATCHES.map((input) => ({ tool: /^apply_patch$/u, input })),
    ...copilot.script(root).slice(-2),
  ],
};

const opencodePatches = {
  ...opencode,
  title: 'opencode (patches)',
  arguments: ['run', '--model', 'scripted/gpt-5', '--auto', PROMPT],
  script: (root) => [
    ...PATCHES.map((patchText) => ({ tool: /^apply_patch$/u, input: { patchText } })),
    ...opencode.script(root).slice(-2),
  ],
};

export const AGENTS = [
  claudeCode,
  codex,
  gemini,
  opencode,
  opencodePatches,
  cline,
  copilot,
  copilotPatches,
].map((agent) => ({ title: agent.name, ...agent }));

/** Those that `smithyd setup` knows and that cannot be tried here. */
export const UNTRIED = {
  'vscode (VS Code)': 'is a window and not on npm',
  cursor: 'neither Cursor nor its command line is on npm (cursor-agent there is somebody else’s)',
  aider: 'is a Python program and not on npm; it has no hooks, only the wrapper, which is tested',
};

function patch(...parts) {
  return ['*** Begin Patch', ...parts, '*** End Patch'].join('\n');
}

function put(path, lines) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${lines.join('\n')}\n`);
}
