/** Who works on the project during a soak: agents, people, a shell and git, each in a loop of its own. */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** Refusals that a client has to live with; every other one ends the soak. */
const EXPECTED = new Set([
  ...['EDIT_CONFLICT', 'RESTORE_BLOCKED', 'BUSY', 'TIMEOUT', 'SHUTTING_DOWN', 'EDIT_NOT_FOUND'],
  // Somebody else changed or removed what was named a moment ago.
  ...['STALE_READ', 'PATH_UNSUPPORTED', 'CHECKPOINT_NOT_FOUND', 'INVALID_PARAMS'],
]);

export function createActors({ root, random, cli, env, files, record }) {
  const at = (path) => join(root, path);
  /** So many names and no more: what is deleted is made again, and the project stays as large as it was. */
  const fileAt = (number) => `src/part-${number % 40}/module-${number}.ts`;
  const anyFile = () => fileAt(random(files));
  let words = 0;
  const line = (who) => `export const v${++words} = ${random(1e9)}; // ${who}`;

  function change(path, who) {
    mkdirSync(dirname(at(path)), { recursive: true });
    let lines = [];
    try {
      lines = readFileSync(at(path), 'utf8').split('\n');
    } catch {
      // It is a new one.
    }
    lines.splice(random(lines.length + 1), random(3), line(who), line(who));
    writeFileSync(at(path), lines.slice(0, 400).join('\n'));
  }

  /**
   * Undefined when it was refused for a reason that is to be expected.
   * @throws Error when the connection is gone.
   */
  async function ask(connection, method, params) {
    const begun = performance.now();
    const answer = await connection.call(method, params);
    record.latency(method, performance.now() - begun);
    if (answer.result !== undefined) {
      record.done(method);
      return answer.result;
    }
    if (!EXPECTED.has(answer.code)) {
      record.fail(`${method} was refused with ${answer.code}: ${answer.message}`);
    }
    record.refused(answer.code);
    return undefined;
  }

  /** One turn of an agent: a message now and then, mostly edits, sometimes a step back. */
  async function agentTurn({ connection, name, dialog }) {
    const here = { dialog_id: dialog };
    const dice = random(100);
    if (dice < 8) {
      const sent = await ask(connection, 'user_message', { content: `turn ${words}`, ...here });
      if (sent !== undefined) record.checkpoint(dialog, sent.checkpoint);
      return;
    }
    if (dice < 12) {
      const saved = await ask(connection, 'create_checkpoint', { message: `by ${name}`, ...here });
      if (saved !== undefined) record.checkpoint(dialog, saved.commit_id);
      return;
    }
    if (dice < 14) {
      const approved = await ask(connection, 'approve', here);
      if (approved !== undefined) record.checkpoint(dialog, approved.approved_commit);
      return;
    }
    if (dice < 17) return goBack(connection, dialog);
    if (dice < 30) {
      await ask(connection, 'get_changes_since', { client: name });
      return;
    }
    await edit(connection, { name, dialog });
  }

  async function goBack(connection, dialog) {
    const target = record.anyCheckpoint(dialog);
    if (target === undefined) return;
    const paths = [`src/part-${random(40)}`];
    const mode = random(2) === 0 ? 'exact' : 'keep_external';
    const done = await ask(connection, 'restore', {
      checkpoint_id: target,
      ...{ paths, mode, dialog_id: dialog },
    });
    if (done === undefined) return;
    record.checkpoint(dialog, done.new_checkpoint);
    if (done.safety_checkpoint !== null) record.checkpoint(dialog, done.safety_checkpoint);
  }

  async function edit(connection, { name, dialog }) {
    const paths = [...new Set(Array.from({ length: 1 + random(3) }, anyFile))];
    const started = await ask(connection, 'start_edit', {
      files: paths,
      agent: { name },
      dialog_id: dialog,
    });
    if (started === undefined) return;
    for (const path of paths) {
      if (random(12) === 0) rmSync(at(path), { force: true });
      else change(path, name);
    }
    const dice = random(20);
    // A client that dies in the middle of its edit.
    if (dice === 0) return connection.destroy();
    const end = { edit_id: started.edit_id };
    if (dice === 1) return void (await ask(connection, 'abort_edit', end));
    const ended = await ask(connection, 'finalize_edit', end);
    for (const { after } of ended?.files ?? []) if (after !== null) record.content(after);
  }

  /** Somebody with an editor who tells nobody. */
  function personTurn() {
    const path = anyFile();
    const dice = random(10);
    try {
      if (dice === 0) rmSync(at(path), { force: true });
      else if (dice === 1) renameSync(at(path), at(`${path.slice(0, -3)}-moved.ts`));
      else if (dice === 2) appendFileSync(at(`notes-${random(5)}.md`), `${line('a person')}\n`);
      else change(path, 'a person');
      record.done('a change by hand');
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
    }
  }

  /** A command under `smithyd run`. */
  async function shellTurn() {
    const path = anyFile();
    const script = `mkdir -p "$(dirname ${path})" && echo '// by a command' >> ${path}`;
    const child = spawn(process.execPath, [cli, '--root', root, 'run', '--', 'sh', '-c', script], {
      ...{ cwd: root, env, stdio: 'ignore' },
    });
    await new Promise((resolve) => child.on('exit', resolve));
    record.done('smithyd run');
  }

  /** Somebody's own git, in the middle of everything. */
  function gitTurn() {
    const git = (...args) =>
      spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: root, env });
    const dice = random(4);
    if (dice === 0) git('commit', '-qam', `commit ${words}`);
    else if (dice === 1) git('stash', '--quiet');
    else if (dice === 2) git('stash', 'pop', '--quiet');
    else git('checkout', '--quiet', '-B', `branch-${random(3)}`);
    record.done('git');
  }

  return { change, fileAt, agentTurn, personTurn, shellTurn, gitTurn };
}
