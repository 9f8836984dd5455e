import { expect } from '@jest/globals';

/**
 * What each agent writes to its hooks: where a version is named, as it was heard from that version
 * by `scripts/real-agents.mjs`; otherwise as its documentation shows it.
 */
export interface AgentMessages {
  readonly agent: string;
  /** Which of its two ways to speak. */
  readonly form?: string;
  prompt(text: string): object;
  edit(when: 'before' | 'after', path: string): object;
  shell(when: 'before' | 'after', command: string): object;
  readonly end: object;
  /** What it is told when its edit is refused: the reason is in there. */
  readonly refusal: object;
  readonly fine: string;
}

const REASON: unknown = expect.stringContaining('is being edited');

/** `turn` is in the ids of tool calls, which no agent uses twice. */
export function agentMessages(root: string, turn = 0): readonly AgentMessages[] {
  return [
    claude(root, turn),
    codex(root, turn),
    gemini(root),
    cursor(root, turn),
    cline(root),
    clineThree(root, turn),
    opencode(root, turn),
    vscode(root, turn),
    copilot(root),
    copilotPatches(root),
  ];
}

/** Version 2.1.326. */
function claude(root: string, turn: number): AgentMessages {
  const common = {
    session_id: 'abc123',
    transcript_path: '/home/u/.claude/projects/p/abc123.jsonl',
    cwd: root,
    prompt_id: `prompt-${turn}`,
    permission_mode: 'default',
  };
  const tool = (when: string, name: string, input: object) => ({
    ...common,
    hook_event_name: when === 'before' ? 'PreToolUse' : 'PostToolUse',
    tool_name: name,
    tool_input: input,
    tool_use_id: `toolu_01${name}${turn}`,
    ...(when === 'after' ? { tool_response: { type: 'update' }, duration_ms: 3 } : {}),
  });
  return {
    agent: 'claude-code',
    prompt: (prompt) => ({ ...common, hook_event_name: 'UserPromptSubmit', prompt }),
    edit: (when, path) =>
      tool(when, 'Write', { file_path: `${root}/${path}`, content: 'file content' }),
    shell: (when, command) => tool(when, 'Bash', { command, description: 'Runs it' }),
    end: { ...common, hook_event_name: 'Stop', stop_hook_active: false },
    refusal: DENIED,
    fine: '',
  };
}

const DENIED = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: REASON,
  },
};

/** Version 0.169.0. */
function codex(root: string, turn: number): AgentMessages {
  const common = {
    session_id: '0199-codex',
    turn_id: `turn-${turn}`,
    transcript_path: '/home/u/.codex/sessions/r.jsonl',
    cwd: root,
    model: 'gpt-5.5',
    permission_mode: 'bypassPermissions',
  };
  const tool = (when: string, name: string, command: string) => ({
    ...common,
    hook_event_name: when === 'before' ? 'PreToolUse' : 'PostToolUse',
    tool_name: name,
    tool_input: { command },
    tool_use_id: `call_${name}${turn}`,
    ...(when === 'after' ? { tool_response: 'Exit code: 0\nOutput:\n' } : {}),
  });
  return {
    agent: 'codex',
    prompt: (prompt) => ({ ...common, hook_event_name: 'UserPromptSubmit', prompt }),
    edit: (when, path) =>
      tool(
        when,
        'apply_patch',
        `*** Begin Patch\n*** Update File: ${path}\n@@\n-old\n+new\n*** End Patch\n`,
      ),
    shell: (when, command) => tool(when, 'Bash', command),
    end: { ...common, hook_event_name: 'Stop', stop_hook_active: false },
    refusal: DENIED,
    fine: '',
  };
}

/** Version 0.61.0. */
function gemini(root: string): AgentMessages {
  const common = {
    session_id: 'g-1',
    transcript_path: '/home/u/.gemini/tmp/t.json',
    cwd: root,
    timestamp: '2026-11-17T00:00:00.000Z',
  };
  const tool = (when: string, name: string, input: object) => ({
    ...common,
    hook_event_name: when === 'before' ? 'BeforeTool' : 'AfterTool',
    tool_name: name,
    tool_input: input,
    ...(when === 'after' ? { tool_response: { llmContent: 'done' } } : {}),
  });
  return {
    agent: 'gemini',
    prompt: (prompt) => ({ ...common, hook_event_name: 'BeforeAgent', prompt }),
    edit: (when, path) => tool(when, 'write_file', { file_path: `${root}/${path}`, content: 'x' }),
    shell: (when, command) => tool(when, 'run_shell_command', { command }),
    end: {
      ...common,
      hook_event_name: 'AfterAgent',
      prompt: 'p',
      prompt_response: 'r',
      stop_hook_active: false,
    },
    refusal: { decision: 'deny', reason: REASON },
    fine: '{}\n',
  };
}

function cursor(root: string, turn: number): AgentMessages {
  const common = {
    conversation_id: 'c-1',
    generation_id: 'gen-1',
    model: 'auto',
    cursor_version: '2.4.0',
    workspace_roots: [root],
    user_email: null,
  };
  const tool = (when: string, name: string, input: object) => ({
    ...common,
    hook_event_name: when === 'before' ? 'preToolUse' : 'postToolUse',
    tool_name: name,
    tool_input: input,
    tool_use_id: `use-${name}${turn}`,
    cwd: root,
  });
  return {
    agent: 'cursor',
    prompt: (prompt) => ({
      ...common,
      hook_event_name: 'beforeSubmitPrompt',
      prompt,
      attachments: [],
    }),
    edit: (when, path) => tool(when, 'Write', { file_path: `${root}/${path}`, content: 'x' }),
    shell: (when, command) => tool(when, 'Shell', { command, working_directory: root }),
    end: { ...common, hook_event_name: 'stop', status: 'completed', loop_count: 0 },
    refusal: { permission: 'deny', agent_message: REASON },
    fine: '{}\n',
  };
}

function cline(root: string): AgentMessages {
  const common = {
    clineVersion: '3.40.0',
    timestamp: '1731801600000',
    taskId: 'task-1',
    workspaceRoots: [root],
    userId: 'u',
  };
  const tool = (when: string, toolName: string, parameters: object) =>
    when === 'before'
      ? { ...common, hookName: 'PreToolUse', preToolUse: { toolName, parameters } }
      : {
          ...common,
          hookName: 'PostToolUse',
          postToolUse: { toolName, parameters, result: 'ok', success: true, executionTimeMs: 5 },
        };
  return {
    agent: 'cline',
    prompt: (prompt) => ({
      ...common,
      hookName: 'UserPromptSubmit',
      userPromptSubmit: { prompt, attachments: [] },
    }),
    edit: (when, path) => tool(when, 'write_to_file', { path, content: 'x' }),
    shell: (when, command) => tool(when, 'execute_command', { command, requires_approval: false }),
    end: { ...common, hookName: 'TaskComplete', taskComplete: { taskMetadata: {} } },
    refusal: { cancel: true, errorMessage: REASON },
    fine: '{"cancel":false}\n',
  };
}

/**
 * Its command line, version 3.0.65. It has the event of a prompt, and yet a prompt on the command
 * line is not told.
 */
function clineThree(root: string, turn: number): AgentMessages {
  const common = {
    clineVersion: '',
    timestamp: '2026-11-18T02:02:11.693Z',
    taskId: 'conv_1',
    sessionContext: { rootSessionId: '1794967330349_tuhd4' },
    workspaceRoots: [root],
    workspaceInfo: { rootPath: root, hint: 'project' },
    userId: 'unknown',
    agent_id: 'agent_1',
    parent_agent_id: null,
  };
  const tool = (when: string, name: string, input: object) => {
    const call = { id: `call_${name}${turn}`, name, input };
    return when === 'before'
      ? {
          ...common,
          hookName: 'tool_call',
          iteration: 1,
          tool_call: call,
          preToolUse: { toolName: name, parameters: {} },
        }
      : {
          ...common,
          hookName: 'tool_result',
          iteration: 1,
          tool_result: { ...call, output: 'ok', durationMs: 5 },
          postToolUse: { toolName: name, parameters: {}, result: 'ok', success: true },
        };
  };
  return {
    ...cline(root),
    form: 'version 3',
    prompt: (prompt) => ({
      ...common,
      hookName: 'prompt_submit',
      userPromptSubmit: { prompt, attachments: [] },
    }),
    edit: (when, path) => tool(when, 'editor', { path: `${root}/${path}`, new_text: 'x' }),
    shell: (when, command) => tool(when, 'run_commands', { commands: [command] }),
    end: { ...common, hookName: 'agent_end', iteration: 2, turn: { status: 'completed' } },
  };
}

/** Version 1.18.33, as our plugin passes it on. */
function opencode(root: string, turn: number): AgentMessages {
  const common = { directory: root, sessionID: 'ses_1' };
  const tool = (when: string, name: string, args: object) => ({
    ...common,
    event: `tool.execute.${when}`,
    callID: `call_${name}${turn}`,
    tool: name,
    args,
  });
  return {
    agent: 'opencode',
    prompt: (prompt) => ({ ...common, event: 'chat.message', messageID: 'msg_1', prompt }),
    edit: (when, path) => tool(when, 'edit', { filePath: `${root}/${path}`, oldString: 'a' }),
    shell: (when, command) => tool(when, 'bash', { command }),
    end: { ...common, event: 'session.idle' },
    refusal: { refused: REASON },
    fine: '',
  };
}

function vscode(root: string, turn: number): AgentMessages {
  const common = {
    timestamp: '2026-11-17T00:00:00.000Z',
    cwd: root,
    sessionId: 'v-1',
    transcript_path: '/home/u/t.json',
  };
  const tool = (when: string, name: string, input: object) => ({
    ...common,
    hookEventName: when === 'before' ? 'PreToolUse' : 'PostToolUse',
    tool_name: name,
    tool_input: input,
    tool_use_id: `tool-${name}${turn}`,
  });
  return {
    agent: 'vscode',
    prompt: (prompt) => ({ ...common, hookEventName: 'UserPromptSubmit', prompt }),
    edit: (when, path) =>
      tool(when, 'multi_replace_string_in_file', {
        explanation: 'e',
        replacements: [{ filePath: `${root}/${path}`, oldString: 'a', newString: 'b' }],
      }),
    shell: (when, command) => tool(when, 'run_in_terminal', { command, isBackground: false }),
    end: { ...common, hookEventName: 'Stop', stop_hook_active: false },
    refusal: { ...DENIED, permissionDecision: 'deny', permissionDecisionReason: REASON },
    fine: '',
  };
}

/** Copilot's command line, version 1.0.102: the tools are called as those of Claude Code, with other inputs. */
function copilot(root: string): AgentMessages {
  const common = {
    session_id: 'c-1',
    timestamp: '2026-11-18T02:02:21.225Z',
    cwd: root,
  };
  const tool = (when: string, name: string, input: unknown) => ({
    hook_event_name: when === 'before' ? 'PreToolUse' : 'PostToolUse',
    ...common,
    tool_name: name,
    tool_input: input,
    ...(when === 'after' ? { tool_result: { result_type: 'success' } } : {}),
  });
  return {
    agent: 'vscode',
    form: 'as Copilot',
    prompt: (prompt) => ({ hook_event_name: 'UserPromptSubmit', ...common, prompt }),
    edit: (when, path) =>
      tool(when, 'Edit', { path: `${root}/${path}`, old_str: 'a', new_str: 'b' }),
    shell: (when, command) => tool(when, 'Bash', { command, description: 'Runs it' }),
    end: { hook_event_name: 'Stop', ...common, stop_reason: 'end_turn', stop_hook_active: false },
    refusal: { ...DENIED, permissionDecision: 'deny', permissionDecisionReason: REASON },
    fine: '',
  };
}

/** The same with a model that edits by patches, whose tool has a text for its input. */
function copilotPatches(root: string): AgentMessages {
  const copilotSays = copilot(root);
  return {
    ...copilotSays,
    form: 'as Copilot with patches',
    edit: (when, path) => ({
      ...copilotSays.edit(when, path),
      tool_input: `*** Begin Patch\n*** Update File: ${path}\n@@\n-old\n+new\n*** End Patch`,
    }),
  };
}
