/** One real agent in a project of its own, with the daemon, its set-up and a scripted model; and what became of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startDaemon } from '../daemon-process.mjs';
import { FILES, PROMPT } from './agents.mjs';
import { startModel } from './model-server.mjs';

const AGENT_MS = 180_000;
/** Some agents do not wait for the hook after a tool. */
const SETTLE_MS = 15_000;
const HELD_BY = 'somebody-else';
const SOMEBODY = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org'];

/** `modules`: where the agent is installed; `folder`: empty, for all that is made. Answers what was checked. */
export async function tryAgent(agent, { modules, folder, cli }) {
  const place = makePlace(folder, cli);
  await must(['git', 'init', '--quiet'], place);
  await must(['git', 'add', '--all'], place);
  await must(['git', ...SOMEBODY, 'commit', '--quiet', '-m', 'Begin'], place);
  const daemon = await startDaemon({ root: place.root, cli, env: place.env });
  const model = await startModel({ script: agent.script(place.root) });
  try {
    const socket = await daemon.open();
    await must([process.execPath, cli, '--root', place.root, 'setup', agent.name, '--yes'], place);
    agent.prepare?.({ ...place, url: model.url });
    const program = agent.program.map((part) => (isAbsolute(part) ? part : join(modules, part)));
    const inAgent = { ...place, env: { ...place.env, ...agent.env(model.url) } };
    if (agent.before !== undefined) await must([...program, ...agent.before(model.url)], inAgent);
    const held = await socket.must('start_edit', { files: ['held.txt'], agent: { name: HELD_BY } });
    const ran = await run([...program, ...agent.arguments], inAgent);
    const heard = { requests: model.heard, mcp: readIfThere(join(folder, 'mcp.jsonl')) };
    writeFileSync(join(folder, 'said.txt'), ran.output);
    writeFileSync(join(folder, 'heard.json'), JSON.stringify(model.heard, null, 1));
    const checks = await look({ agent, socket, ran, heard, ...place });
    await socket.must('abort_edit', { edit_id: held.edit_id });
    checks.push(await checkRestore({ socket, ...place }));
    socket.destroy();
    return checks;
  } finally {
    await model.stop();
    await daemon.stop('SIGTERM');
  }
}

/** A project, a home of nobody, and a `smithyd` that notes what agents say to it. */
function makePlace(folder, cli) {
  const [root, home, bin] = ['project', 'home', 'bin'].map((name) => {
    mkdirSync(join(folder, name));
    return realpathSync(join(folder, name));
  });
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(root, path), text);
  const smithyd = `'${process.execPath}' '${cli}' "$@"`;
  writeFileSync(
    join(bin, 'smithyd'),
    [
      '#!/bin/sh',
      'case $1 in',
      `agent-hook) tee -a '${folder}/hooks.jsonl' | ${smithyd} 2>>'${folder}/hooks.err' ;;`,
      `mcp) tee -a '${folder}/mcp.jsonl' | ${smithyd} ;;`,
      `*) exec ${smithyd} ;;`,
      'esac',
      '',
    ].join('\n'),
  );
  chmodSync(join(bin, 'smithyd'), 0o755);
  // Nothing of the environment we are in: it may have keys and proxies.
  const env = { HOME: home, PATH: `${bin}:${process.env.PATH}`, LANG: 'C.UTF-8', TERM: 'dumb' };
  return { folder, root, home, env };
}

async function look({ agent, socket, ran, heard, folder, root }) {
  await settled(socket);
  const told = heard.requests.flatMap(({ results = [] }) => results).join('\n');
  const { checkpoints } = await socket.must('list_checkpoints', {});
  const messages = checkpoints
    .filter(({ kind }) => kind === 'message')
    .map(({ message }) => message);
  const open = await openEdits(socket);
  const { affectedFiles: unknown } = await socket.must('detect_unknown_modifications', {});
  const author = `agent:${agent.name}`;
  const files = await Promise.all(
    ['greeting.txt', 'new.txt', 'made.txt', 'held.txt'].map((path) =>
      fileOf(path, { socket, root }),
    ),
  );
  const [greeting, fresh, made, held] = files;
  const complaints = readIfThere(join(folder, 'hooks.err'));
  const wanted = agent.message ?? PROMPT;
  const ending =
    agent.endsWhenRefused === undefined
      ? check('ended well', ran.code === 0, `exit ${ran.code}`)
      : check('ended by the refusal', agent.endsWhenRefused.test(ran.output), `exit ${ran.code}`);
  const isTold =
    agent.endsWhenRefused?.test(ran.output) ?? told.includes(`is being edited by ${HELD_BY}`);
  return [
    ending,
    check(
      wanted === PROMPT ? 'prompt' : `prompt as "${wanted}"`,
      messages.length === 1 && messages[0].includes(wanted),
      JSON.stringify(messages),
    ),
    check('edit', is(greeting, 'hello world\n', author), greeting),
    check('new file', is(fresh, 'new\n', author), fresh),
    check('command', is(made, 'made\n', /^command:/u), made),
    check('kept off a held file', held.text === 'mine\n' && isTold, held),
    check('nothing open', open.length === 0, open),
    check('nothing unknown', unknown.length === 0, unknown),
    check('hooks fine', complaints === '', complaints),
    check('settings fine', !/clamping|invalid/iu.test(ran.output), 'see said.txt'),
    ...(agent.withoutMcp === undefined ? [checkMcp(heard.mcp, told)] : []),
  ];
}

/** It was greeted in one of two ways, asked for its tools, and one of them was called and answered. */
function checkMcp(lines, told) {
  const wanted = [/"initialize"|"server\/discover"/u, /"tools\/list"/u, /"tools\/call"/u];
  const missing = wanted.filter((method) => !method.test(lines)).map(String);
  const isAnswered = told.includes('current_dialog_id');
  return check('MCP', missing.length === 0 && isAnswered, { missing, isAnswered });
}

async function checkRestore({ socket, root }) {
  const { checkpoints } = await socket.must('list_checkpoints', {});
  const saved = checkpoints.find(({ kind }) => kind === 'message');
  if (saved === undefined) return check('restore', false, 'there is no message');
  await socket.must('restore', { checkpoint_id: saved.commit_id });
  const left = ['greeting.txt', 'held.txt', 'new.txt', 'made.txt'].map((path) =>
    readIfThere(join(root, path)),
  );
  const isBack = left.join('|') === [FILES['greeting.txt'], FILES['held.txt'], '', ''].join('|');
  return check('restore', isBack, left);
}

function check(what, ok, found) {
  return { what, ok, found: typeof found === 'string' ? found : JSON.stringify(found) };
}

function is({ text, last }, content, author) {
  return text === content && (author instanceof RegExp ? author.test(last) : last === author);
}

async function fileOf(path, { socket, root }) {
  const { result, code } = await socket.call('blame', { path });
  return { path, text: readIfThere(join(root, path)), last: result?.last ?? code };
}

async function openEdits(socket) {
  const { edits } = await socket.must('list_edits', {});
  return edits.filter(({ agent }) => agent?.name !== HELD_BY);
}

async function settled(socket) {
  const end = performance.now() + SETTLE_MS;
  while ((await openEdits(socket)).length > 0 && performance.now() < end) await pause(100);
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

async function must(command, place) {
  const { code, output } = await run(command, place);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${output}`);
}

async function run([program, ...words], { env, root }) {
  const stdio = ['ignore', 'pipe', 'pipe'];
  const bound = { timeout: AGENT_MS, killSignal: 'SIGKILL' };
  const child = spawn(program, words, { env, cwd: root, stdio, ...bound });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  // What it leaves behind may keep its output open, so its own end counts.
  const [code, signal] = await once(child, 'exit');
  await Promise.race([once(child, 'close'), pause(1_000)]);
  return { code: code ?? signal, output };
}
