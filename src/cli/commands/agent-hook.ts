import { text as readAll } from 'node:stream/consumers';
import { isAbsolute, relative, resolve } from 'node:path';
import { tryReach, reachDaemon } from '../../client/reach.js';
import type { Wire } from '../../client/wire.js';
import { processEnvironment } from '../../config.js';
import {
  AGENTS,
  readHook,
  type AgentForm,
  type AgentName,
  type HookCall,
} from '../../core/agents.js';
import { SmithyError } from '../../core/errors.js';
import { didYouMean, nearest } from '../../core/nearest.js';
import { findRoot, realIfThere } from '../../host/find-root.js';
import { OpenCalls } from '../../host/open-calls.js';
import { statePaths } from '../../host/state-folder.js';
import type { GlobalFlags } from '../args.js';
import { printable } from '../text.js';

/** A prompt may have to start the daemon; nobody waits longer for anything. */
const PROMPT_MS = 5_000;
const TOOL_MS = 3_000;
/** A command may run long. One whose end is never told must not own everybody's changes for ever. */
const COMMAND_TTL_MS = 3_600_000;
const LONGEST_PROMPT = 1_000_000;
const LONGEST_TOOL = 200;
/** One edit for each file of a patch at most, and patches are short. */
const MOST_LEFT_OPEN = 20;
/** What an agent must be told of; everything else is between us and the user. */
const REFUSALS: readonly string[] = ['EDIT_CONFLICT', 'UNKNOWN_CHANGES'];

interface Heard {
  readonly agent: AgentName;
  readonly root: string;
  readonly hook: HookCall;
  readonly calls: OpenCalls;
  /** Work begins with it, which may start the daemon; other tool calls do not. */
  readonly begins: boolean;
}

/**
 * Reads the JSON that an agent gives to its hooks and does what it means. Whatever goes wrong, the
 * agent goes on: it is told on stderr in one line, and the exit code is 0.
 */
export async function agentHook(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  // A slip in a file of settings: an exit code that says so would stop every tool of the agent.
  const agent = agentNamed(words);
  if (agent === undefined) return leave({}, unknownAgent(words));
  const form: AgentForm = AGENTS[agent];
  const end = setTimeout(() => leave(form, 'the daemon did not answer in time'), PROMPT_MS);
  try {
    const json = JSON.parse(await readAll(process.stdin)) as unknown;
    const hook = readHook(form, json);
    if (hook !== undefined) await obey(globals, agent, hook);
    answer(form.fine);
  } catch (thrown) {
    const error = SmithyError.from(thrown);
    const isRefused = REFUSALS.includes(error.code) && form.refusal !== undefined;
    if (isRefused) answer(form.refusal(`${error.message} ${error.hint ?? ''}`.trim()));
    else leave(form, thrown instanceof SyntaxError ? 'the input is not JSON' : error.message);
  }
  clearTimeout(end);
  return 0;
}

async function obey(globals: GlobalFlags, agent: AgentName, hook: HookCall): Promise<void> {
  const root = findRoot(globals.root ?? hook.folder, process.cwd());
  const calls = new OpenCalls(statePaths(root).run, `${agent} ${hook.session}`);
  const form: AgentForm = AGENTS[agent];
  const heard = { agent, root, hook, calls, begins: begins(form, hook, calls) };
  switch (hook.event) {
    case 'prompt':
      return withDaemon(heard, async (wire) => {
        // A turn that was interrupted tells nobody that it is over.
        await endAll(wire, heard);
        await tellPrompt(wire, heard, globals);
        if (form.mayKeepPrompts === true) calls.beginTurn();
      });
    case 'before':
      return before(heard, globals);
    case 'after':
      return after(heard);
    case 'end':
      return withDaemon(heard, (wire) => endAll(wire, heard));
  }
}

function begins(form: AgentForm, hook: HookCall, calls: OpenCalls): boolean {
  if (hook.event === 'prompt') return true;
  const isFirst = form.mayKeepPrompts === true && hook.event === 'before';
  return isFirst && hook.effect !== undefined && calls.beginTurn();
}

async function tellPrompt(wire: Wire, { agent, hook }: Heard, globals: GlobalFlags): Promise<void> {
  if (hook.prompt === '') return;
  const id = hook.promptId === undefined ? {} : { message_id: `${agent}:${hook.promptId}` };
  const content = hook.prompt.slice(0, LONGEST_PROMPT);
  await wire.call('user_message', { content, ...id, ...ofDialog(globals) }, PROMPT_MS);
}

async function before(heard: Heard, globals: GlobalFlags): Promise<void> {
  const { agent, hook, root, calls } = heard;
  const files = hook.effect === 'files' ? inProject(hook, root) : [];
  if (hook.effect === undefined || (hook.effect === 'files' && files.length === 0)) return;
  const what = hook.effect === 'files' ? { files } : { scope: 'project', ttl_ms: COMMAND_TTL_MS };
  await withDaemon(heard, async (wire) => {
    if (heard.begins) {
      const content = `${agent} began to work`;
      await wire.call('user_message', { content, ...ofDialog(globals) }, PROMPT_MS);
    }
    const params = {
      ...what,
      ...ofDialog(globals),
      detached: true,
      agent: { name: agent },
      tool: hook.tool.slice(0, LONGEST_TOOL),
      ...(hook.session === '' ? {} : { run_id: hook.session.slice(0, LONGEST_TOOL) }),
      // The same hook may stand in two files of settings.
      ...(hook.isUnique ? { request_id: requestOf(heard) } : {}),
    };
    calls.remember(hook.call, await start(wire, heard, params));
  });
}

/**
 * A call that failed, or that the user did not allow, has no hook after it in most agents. It must
 * not keep its own session from trying again.
 */
async function start(wire: Wire, { calls }: Heard, params: object): Promise<string> {
  for (let left = MOST_LEFT_OPEN; ; left--) {
    try {
      const answered = await wire.call('start_edit', params, TOOL_MS);
      return (answered as { edit_id: string }).edit_id;
    } catch (thrown) {
      const holder = SmithyError.from(thrown).data['holder'] as { edit_id: string } | undefined;
      if (holder === undefined || left === 0 || !calls.takeEdit(holder.edit_id)) throw thrown;
      await finalize(wire, holder.edit_id);
    }
  }
}

function requestOf({ agent, hook }: Heard): string {
  return `${agent}:${hook.session}:${hook.call}`.slice(-LONGEST_TOOL);
}

async function after(heard: Heard): Promise<void> {
  const id = heard.calls.take(heard.hook.call);
  if (id !== undefined) await withDaemon(heard, (wire) => finalize(wire, id));
}

async function endAll(wire: Wire, { calls }: Heard): Promise<void> {
  for (const id of calls.takeAll(Date.now())) await finalize(wire, id);
}

/** Settled by somebody else, or too long ago: then there is nothing left to do. */
async function finalize(wire: Wire, id: string): Promise<void> {
  try {
    await wire.call('finalize_edit', { edit_id: id }, TOOL_MS);
  } catch (thrown) {
    if (!(thrown instanceof SmithyError && thrown.code === 'EDIT_NOT_FOUND')) throw thrown;
  }
}

async function withDaemon(
  { root, begins: mayStart }: Heard,
  work: (wire: Wire) => Promise<void>,
): Promise<void> {
  const startFrom = processEnvironment;
  const reached = mayStart ? await reachDaemon({ root, startFrom }) : await tryReach({ root });
  if (reached === undefined) return;
  try {
    await work(reached.wire);
  } finally {
    reached.wire.close();
  }
}

/** What lies elsewhere, such as an agent's own notes, is not the project's. */
function inProject({ paths, folder }: HookCall, root: string): string[] {
  const named = folder ?? root;
  const here = realIfThere(named);
  return paths.flatMap((path) => {
    // Agents name files by the folder they were started in, and that may be a link to ours.
    const inside = wayDown(named, resolve(named, path));
    const way = wayDown(root, inside === undefined ? path : resolve(here, inside));
    return way === undefined ? [] : [way];
  });
}

/** Undefined when it does not lead to something inside. */
function wayDown(from: string, to: string): string | undefined {
  const way = relative(from, to);
  return way === '' || isAbsolute(way) || way.split('/')[0] === '..' ? undefined : way;
}

function ofDialog({ dialog }: GlobalFlags): object {
  return dialog === undefined ? {} : { dialog_id: dialog };
}

function answer(what: object | undefined): void {
  if (what !== undefined) process.stdout.write(`${JSON.stringify(what)}\n`);
}

function leave({ fine }: Pick<AgentForm, 'fine'>, why: string): never {
  answer(fine);
  process.stderr.write(`smithyd: ${printable(why.replaceAll('\n', ' '))}\n`);
  process.exit(0);
}

function agentNamed([name = '', ...rest]: readonly string[]): AgentName | undefined {
  return Object.hasOwn(AGENTS, name) && rest.length === 0 ? (name as AgentName) : undefined;
}

function unknownAgent(words: readonly string[]): string {
  const known = Object.keys(AGENTS);
  const name = words.join(' ');
  const hint = didYouMean(nearest(name, known)) ?? `Known ones: ${known.join(', ')}.`;
  return `There is no agent "${name}". ${hint}`;
}
