/** What a hook of an agent means to us. */
export type HookEvent = 'prompt' | 'before' | 'after' | 'end';

/** Where something is in an agent's JSON: the first of these dotted names that is there. */
type Places = readonly string[];

/** How one agent speaks: everything that differs between agents is here, and nothing else does. */
export interface AgentForm {
  readonly events: Readonly<Record<string, HookEvent>>;
  readonly event: Places;
  readonly session: Places;
  /** The tool call; agents without an id for it are matched by tool and input. */
  readonly call: Places;
  /** The ids of tool calls are those of the model's provider, which may begin anew each time. */
  readonly callsRepeat?: boolean;
  readonly folder: Places;
  readonly prompt: Places;
  /** It may begin to work without having told a prompt; its first tool call is then the beginning. */
  readonly mayKeepPrompts?: boolean;
  /** Tells the same prompt sent twice from two equal prompts. */
  readonly promptId: Places;
  readonly tool: Places;
  readonly input: Places;
  /** Tools that change files, and those that run commands. */
  readonly edits: RegExp;
  readonly shells: RegExp;
  /** Where the tools have their paths: names in the input, `*` for every item of a list. */
  readonly paths: Places;
  /** Where a patch in the form `*** Update File: NAME` may be. */
  readonly patches: Places;
  /** What it wants to read when nothing is wrong; undefined: nothing. */
  readonly fine?: object;
  /** How it is told that a tool must not run; undefined: its protocol has no such thing. */
  readonly refusal?: (reason: string) => object;
}

/** Claude Code's form, which others have taken over in part. */
const CLAUDE: AgentForm = {
  events: {
    UserPromptSubmit: 'prompt',
    PreToolUse: 'before',
    PostToolUse: 'after',
    PostToolUseFailure: 'after',
    Stop: 'end',
    StopFailure: 'end',
    Interrupt: 'end',
    SessionEnd: 'end',
  },
  event: ['hook_event_name', 'hookEventName'],
  session: ['session_id', 'sessionId'],
  call: ['tool_use_id', 'toolUseId'],
  folder: ['cwd'],
  prompt: ['prompt'],
  promptId: ['prompt_id', 'turn_id'],
  tool: ['tool_name', 'toolName'],
  input: ['tool_input', 'toolArgs'],
  edits: /^(?:Write|Edit|MultiEdit|NotebookEdit)$/u,
  shells: /^Bash$/u,
  paths: ['file_path', 'notebook_path'],
  patches: [],
  refusal: (reason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    },
  }),
};

export const AGENTS = {
  'claude-code': CLAUDE,
  codex: { ...CLAUDE, edits: /^apply_patch$/u, paths: [], patches: ['command', 'input'] },
  gemini: {
    ...CLAUDE,
    events: {
      BeforeAgent: 'prompt',
      BeforeTool: 'before',
      AfterTool: 'after',
      AfterAgent: 'end',
      SessionEnd: 'end',
    },
    call: [],
    promptId: [],
    edits: /^(?:write_file|replace)$/u,
    shells: /^run_shell_command$/u,
    paths: ['file_path', 'absolute_path'],
    // It reads stdout as JSON whatever happens.
    fine: {},
    refusal: (reason) => ({ decision: 'deny', reason }),
  },
  cursor: {
    ...CLAUDE,
    events: {
      beforeSubmitPrompt: 'prompt',
      preToolUse: 'before',
      postToolUse: 'after',
      postToolUseFailure: 'after',
      stop: 'end',
      sessionEnd: 'end',
    },
    session: ['conversation_id', 'session_id'],
    folder: ['workspace_roots.0', 'cwd'],
    promptId: ['generation_id'],
    edits: /^(?:Write|Edit|StrReplace|MultiEdit|EditNotebook|Delete)$/u,
    shells: /^Shell$/u,
    paths: ['file_path', 'path', 'target_file', 'target_notebook'],
    fine: {},
    refusal: (reason) => ({
      permission: 'deny',
      user_message: reason,
      agent_message: reason,
      decision: 'deny',
      reason,
    }),
  },
  cline: {
    ...CLAUDE,
    events: {
      UserPromptSubmit: 'prompt',
      PreToolUse: 'before',
      PostToolUse: 'after',
      TaskComplete: 'end',
      TaskCancel: 'end',
      // Version 3 of its command line says what happened in other words.
      prompt_submit: 'prompt',
      tool_call: 'before',
      tool_result: 'after',
      agent_end: 'end',
      agent_abort: 'end',
      agent_error: 'end',
      session_shutdown: 'end',
    },
    event: ['hookName'],
    session: ['taskId'],
    call: ['tool_call.id', 'tool_result.id'],
    callsRepeat: true,
    folder: ['workspaceRoots.0'],
    prompt: ['userPromptSubmit.prompt'],
    mayKeepPrompts: true,
    promptId: [],
    tool: ['tool_call.name', 'tool_result.name', 'preToolUse.toolName', 'postToolUse.toolName'],
    input: [
      ...['tool_call.input', 'tool_result.input'],
      ...['preToolUse.parameters', 'postToolUse.parameters'],
    ],
    edits: /^(?:write_to_file|replace_in_file|new_rule|apply_patch|editor)$/u,
    shells: /^(?:execute_command|run_commands)$/u,
    paths: ['path', 'absolutePath'],
    patches: ['input'],
    fine: { cancel: false },
    refusal: (reason) => ({ cancel: true, errorMessage: reason }),
  },
  /** It has plugins and no hooks with JSON; ours (`templates/opencode`) says what we want to know. */
  opencode: {
    ...CLAUDE,
    events: {
      'chat.message': 'prompt',
      'tool.execute.before': 'before',
      'tool.execute.after': 'after',
      'session.idle': 'end',
      'session.deleted': 'end',
    },
    event: ['event'],
    session: ['sessionID'],
    call: ['callID'],
    callsRepeat: true,
    folder: ['directory'],
    promptId: ['messageID'],
    tool: ['tool'],
    input: ['args'],
    edits: /^(?:write|edit|multiedit|patch|apply_patch)$/u,
    shells: /^bash$/u,
    paths: ['filePath'],
    patches: ['patchText'],
    refusal: (reason) => ({ refused: reason }),
  },
  /** VS Code, and the command line of Copilot, which writes some names otherwise and others as Claude Code. */
  vscode: {
    ...CLAUDE,
    events: {
      ...CLAUDE.events,
      userPromptSubmitted: 'prompt',
      preToolUse: 'before',
      postToolUse: 'after',
      agentStop: 'end',
      sessionEnd: 'end',
    },
    promptId: [],
    edits:
      /^(?:editFiles|create_file|replace_string_in_file|multi_replace_string_in_file|insert_edit_into_file|edit_notebook_file|apply_patch|create|edit|str_replace|Write|Edit|MultiEdit|NotebookEdit)$/u,
    shells: /^(?:run_in_terminal|bash|powershell|Bash)$/u,
    paths: ['filePath', 'path', 'files.*', 'replacements.*.filePath'],
    patches: ['input'],
    // VS Code reads the inner one, Copilot's own runtime the outer one.
    refusal: (reason) => ({
      ...CLAUDE.refusal?.(reason),
      permissionDecision: 'deny',
      permissionDecisionReason: reason,
    }),
  },
} as const satisfies Readonly<Record<string, AgentForm>>;

export type AgentName = keyof typeof AGENTS;

/** One call of a hook, in our own words. */
export interface HookCall {
  readonly event: HookEvent;
  readonly session: string;
  readonly folder: string | undefined;
  readonly prompt: string;
  readonly promptId: string | undefined;
  readonly tool: string;
  /** Undefined: a tool that changes nothing. */
  readonly effect: 'files' | 'project' | undefined;
  readonly paths: readonly string[];
  /** The same before and after one tool call. */
  readonly call: string;
  /** No other call has the same. */
  readonly isUnique: boolean;
}

/** Undefined for events that are none of our business. */
export function readHook(form: AgentForm, json: unknown): HookCall | undefined {
  const event = form.events[text(json, form.event) ?? ''];
  if (event === undefined) return undefined;
  const tool = text(json, form.tool) ?? '';
  const input = asObject(first(json, form.input));
  return {
    event,
    session: text(json, form.session) ?? '',
    folder: text(json, form.folder),
    prompt: text(json, form.prompt) ?? '',
    promptId: text(json, form.promptId),
    tool,
    effect: effectOf(form, tool),
    paths: [...new Set([...named(form, input), ...patched(form, input)])],
    call: text(json, form.call) ?? JSON.stringify([tool, input]),
    isUnique: form.callsRepeat !== true && text(json, form.call) !== undefined,
  };
}

function effectOf({ edits, shells }: AgentForm, tool: string): HookCall['effect'] {
  if (edits.test(tool)) return 'files';
  return shells.test(tool) ? 'project' : undefined;
}

function named({ paths }: AgentForm, input: unknown): string[] {
  return paths.flatMap((place) => all(input, place.split('.'))).filter(isText);
}

const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gmu;

/** Where the input is nothing but a text, it is the patch. */
function patched({ patches }: AgentForm, input: unknown): string[] {
  const places = patches.flatMap((place) => all(input, place.split('.')));
  const texts = [input, ...places].filter(isText);
  return texts.flatMap((patch) => [...patch.matchAll(PATCHED)].map(([, path = '']) => path.trim()));
}

function first(json: unknown, places: Places): unknown {
  for (const place of places) {
    const [found] = all(json, place.split('.'));
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

function text(json: unknown, places: Places): string | undefined {
  const found = first(json, places);
  return isText(found) ? found : undefined;
}

function all(json: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [json];
  if (typeof json !== 'object' || json === null) return [];
  if (name === '*') return Object.values(json).flatMap((item) => all(item, rest));
  return Object.hasOwn(json, name) ? all((json as Record<string, unknown>)[name], rest) : [];
}

/** Copilot's command line sends the arguments as a text of JSON. */
function asObject(input: unknown): unknown {
  if (!isText(input)) return input;
  try {
    return JSON.parse(input) as unknown;
  } catch {
    return input;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
