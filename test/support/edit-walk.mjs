/**
 * Agents, shells and people work on the same few files at random, through and around the edit
 * protocol; after every step the daemon's answer, the disk, the unknown changes and the author of
 * every line must be what the model says. A seed repeats a walk.
 */
import { strict as assert } from 'node:assert';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { appendFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { startDaemon } from './daemon-process.mjs';
import { byOf, EditModel, hash, text } from './edit-model.mjs';

const FILES = ['a.txt', 'b.txt', 'c.md', 'd', 'src/e.ts', 'src/f.ts', 'src/deep/g.ts', 'lib/h.js'];
/** Who calls: what an edit of theirs says about itself. */
const CALLERS = [
  { agent: { name: 'ada', version: '1' } },
  { agent: { name: 'bob' }, tool: 'write_file' },
  { tool: 'sed' },
  {},
];
const MOST_OPEN = 7;
const TTL_MS = 400;
const STRATEGIES = {
  warn: ['warn'],
  reject: ['reject', 'strict'],
  integrate: ['integrate', 'auto-integrate'],
};

export async function editWalk({ root, seed, steps, cli, env, tell = () => undefined, trace }) {
  const random = randomNumbers(seed);
  const pick = (choices) => choices[random(choices.length)];
  const some = (choices, most) => {
    const left = [...choices];
    return Array.from(
      { length: Math.min(left.length, 1 + random(most)) },
      () => left.splice(random(left.length), 1)[0],
    );
  };
  let lines = 0;
  const newLines = () => Array.from({ length: 1 + random(3) }, () => `line ${seed}.${++lines}`);

  const first = new Map();
  for (const path of FILES.slice(0, 5)) first.set(path, { lines: newLines(), mode: '100644' });
  for (const [path, state] of first) put(path, state);
  const model = new EditModel(first);
  const counts = {};
  const recent = [];
  let daemon = await startDaemon({ root, cli, env });
  let clients;
  let dialog;
  let step = 0;
  let strategyByDefault = 'warn';
  await connectAll();
  const opened = await clients[0].must('create_dialog', { title: 'walk' });
  dialog = opened.dialog_id;
  model.checkpoint(opened.initial_checkpoint);

  const MOVES = [
    [34, write],
    [5, remove],
    [7, create],
    [5, rename],
    [4, chmod],
    [16, startFiles],
    [3, startProject],
    [14, finalize],
    [6, abort],
    [2, startWaiting],
    [1, vanish],
    [3, detectSome],
    [3, handle],
    [2, validate],
    [2, endAgain],
    [2, checkpoint],
    [2, restore],
    [0.4, setStrategy],
    [0.3, outlive],
    [0.15, () => restart('SIGTERM')],
    [0.15, () => restart('SIGKILL')],
  ];
  const total = MOVES.reduce((sum, [weight]) => sum + weight, 0);

  try {
    for (step = 1; step <= steps; step++) {
      let at = (random(1e6) / 1e6) * total;
      const [, move] = MOVES.find(([weight]) => (at -= weight) < 0) ?? MOVES[0];
      await move();
      await compare();
      if (step % 1000 === 0) tell(`${step} steps`);
    }
  } catch (error) {
    const story = recent.slice(-40).join('\n');
    throw new Error(`seed ${seed}, step ${step}: ${error.message}\nbefore it:\n${story}`, {
      cause: error,
    });
  } finally {
    await daemon.stop('SIGKILL');
  }
  return { steps, counts };

  // --- the world

  async function connectAll() {
    clients = await Promise.all(CALLERS.map(() => daemon.open()));
  }

  function note(what, ...details) {
    counts[what] = (counts[what] ?? 0) + 1;
    recent.push(`${step} ${what} ${details.map((one) => JSON.stringify(one)).join(' ')}`);
    if (recent.length > 200) recent.shift();
    trace?.(recent.at(-1));
  }

  function put(path, state) {
    const file = join(root, path);
    if (state === null) {
      rmSync(file);
      return;
    }
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text(state));
    chmodSync(file, state.mode === '100755' ? 0o755 : 0o644);
  }

  /** Attribution goes by the order in which changes are seen; most are looked at at once. */
  async function settle(must = false) {
    if (must || random(2) === 0) await clients[0].must('known_files', { limit: 1 });
  }

  // --- hands

  async function write() {
    const path = pick([...model.disk.keys(), ...FILES]);
    const state = model.at(path) ?? { lines: [], mode: '100644' };
    const next = [...state.lines];
    if (next.length > 0 && random(3) === 0) {
      next.push(...newLines());
      note('append', path);
      appendFileSync(join(root, path), text({ lines: next.slice(state.lines.length) }));
    } else {
      next.splice(random(next.length + 1), random(3), ...newLines());
      if (next.length > 14) next.splice(random(8), 6);
      note('write', path);
      put(path, { ...state, lines: next });
    }
    const isNew = model.at(path) === null;
    model.change(path, { ...state, lines: next });
    // A file that comes and goes between two looks was never there.
    await settle(isNew);
  }

  async function remove() {
    const path = pick([...model.disk.keys()]);
    if (path === undefined) return;
    note('delete', path);
    put(path, null);
    model.change(path, null);
    await settle(true);
  }

  async function create() {
    const path = pick(FILES.filter((one) => !model.disk.has(one)));
    if (path === undefined) return;
    const state = { lines: newLines(), mode: random(4) === 0 ? '100755' : '100644' };
    note('create', path);
    put(path, state);
    model.change(path, state);
    await settle(true);
  }

  async function rename() {
    const from = pick([...model.disk.keys()]);
    const to = pick(FILES);
    if (from === undefined || from === to) return;
    note('rename', from, to);
    mkdirSync(dirname(join(root, to)), { recursive: true });
    renameSync(join(root, from), join(root, to));
    const state = model.at(from);
    model.change(from, null);
    model.change(to, state);
    await settle(true);
  }

  async function chmod() {
    const path = pick([...model.disk.keys()]);
    if (path === undefined) return;
    const state = model.at(path);
    const mode = state.mode === '100755' ? '100644' : '100755';
    note('chmod', path);
    put(path, { ...state, mode });
    model.change(path, { ...state, mode });
    await settle(true);
  }

  // --- edits

  function strategyGiven() {
    if (random(3) === 0) return { given: undefined, meant: strategyByDefault };
    const meant = pick(['warn', 'warn', 'reject', 'integrate', 'integrate']);
    return { given: pick(STRATEGIES[meant]), meant };
  }

  function expectGiven(files) {
    if (random(3) > 0) return undefined;
    const isRight = random(4) > 0;
    return Object.fromEntries(
      some(files, 2).map((path) => {
        return [path, isRight ? hash(model.at(path)) : hash({ lines: ['never'] })];
      }),
    );
  }

  function request({ scope, files, more = {} }) {
    const who = random(CALLERS.length);
    const strategy = strategyGiven();
    const expect = files && expectGiven(files);
    const params = {
      ...(files ? { files } : { scope: 'project' }),
      ...CALLERS[who],
      ...(strategy.given ? { strategy: strategy.given } : {}),
      ...(expect ? { expect } : {}),
      ...more,
    };
    const { agent, tool } = CALLERS[who];
    return {
      params,
      conn: clients[who],
      meant: {
        conn: clients[who],
        scope,
        files,
        expect,
        strategy: strategy.meant,
        detached: params.detached ?? false,
        by: byOf({ scope, agent: agent?.name, tool, dialog }),
        listed: { agent: agent?.name ?? null, tool: tool ?? null },
      },
    };
  }

  function compareStart(answer, meant) {
    const predicted = model.start({ ...meant, id: answer.result?.edit_id });
    if (predicted.code !== undefined) {
      equal('start_edit', answer.code ?? answer, predicted.code);
      const { data } = answer;
      if (predicted.holder) equal('holder', data.holder.edit_id, predicted.holder);
      if (predicted.stale) equal('stale', data.files.map(pathOf).sort(), predicted.stale.sort());
      if (predicted.unknown) equal('unknown', unknownOf(data), predicted.unknown);
      return undefined;
    }
    equal('start_edit', answer.code, undefined);
    equal('files of start_edit', answer.result.files, predicted.result.files);
    equal('unknown of start_edit', unknownOf(answer.result.unknown), predicted.result.unknown);
    return answer.result.edit_id;
  }

  async function startFiles() {
    if (model.open.length >= MOST_OPEN) return;
    const files = some(FILES, 3);
    const more = random(4) === 0 ? { detached: true } : {};
    if (random(6) === 0) more.wait_ms = 2;
    const { params, conn, meant } = request({ scope: 'files', files, more });
    const answer = await conn.call('start_edit', params);
    note('start_edit', params, answer.code ?? answer.result.edit_id);
    compareStart(answer, meant);
  }

  async function startProject() {
    if (model.open.filter(({ scope }) => scope === 'project').length > 1) return;
    const more = random(2) === 0 ? { detached: true } : {};
    const { params, conn, meant } = request({ scope: 'project', more });
    const answer = await conn.call('start_edit', params);
    note('start_edit', params, answer.code ?? answer.result.edit_id);
    compareStart(answer, meant);
  }

  /** A start that waits for a held path, and the end it waits for. */
  async function startWaiting() {
    const held = model.open.filter(({ scope }) => scope === 'files');
    const edit = pick(held);
    if (edit === undefined) return;
    const own = pick([...edit.before.keys()]);
    const free = FILES.filter((path) => model.holder(path) === undefined);
    const files = free.length > 0 && random(2) === 0 ? [own, pick(free)] : [own];
    const { params, conn, meant } = request({
      scope: 'files',
      files,
      more: { wait_ms: 60_000 },
    });
    delete params.expect;
    delete meant.expect;
    const started = conn.call('start_edit', params);
    await settle();
    note('start_edit that waits', params, edit.id);
    await end(edit.id, pick(['finalize_edit', 'abort_edit']), pick(clients));
    const answer = await started;
    note('waited', answer.code ?? answer.result.edit_id);
    compareStart(answer, meant);
  }

  async function finalize() {
    const edit = pick(model.open);
    if (edit !== undefined) await end(edit.id, 'finalize_edit', pick(clients));
  }

  async function abort() {
    const edit = pick(model.open);
    if (edit !== undefined) await end(edit.id, 'abort_edit', pick(clients));
  }

  /** Edits that ended before, were left incomplete, or never were. */
  async function endAgain() {
    const left = [...model.incomplete.keys()];
    const known = left.length > 0 && random(2) === 0 ? left : [...model.ended.keys()].slice(-5);
    await end(pick([...known, 'no-such-edit']), pick(['finalize_edit', 'abort_edit']), clients[0]);
  }

  async function end(id, method, conn) {
    const answer = await conn.call(method, { edit_id: id });
    note(method, id, answer.code ?? 'done');
    if (method === 'finalize_edit') {
      const predicted = model.finalize(id);
      equal(method, answer.code, predicted.code);
      if (predicted.code !== undefined) return;
      equal(
        'files of finalize_edit',
        answer.result.files.map(withoutDiff).sort(byPath),
        predicted.result.files,
      );
      equal('skipped of finalize_edit', answer.result.skipped, []);
      return;
    }
    const predicted = model.abort(id);
    equal(method, answer.code, predicted.code);
    if (predicted.code !== undefined) return;
    const { restored, removed, saved, skipped } = answer.result;
    equal(
      'answer of abort_edit',
      {
        restored: restored.sort(),
        removed: removed.sort(),
        saved: saved.sort(byPath),
        skipped: skipped.map(pathOf).sort(),
      },
      predicted.result,
    );
  }

  /** A client dies; its connected edits are taken back. */
  async function vanish() {
    const who = random(clients.length);
    const conn = clients[who];
    note('vanish', who);
    clients[who] = await daemon.open();
    conn.destroy();
    const gone = model.open.filter((one) => one.conn === conn && !one.detached).map(idOf);
    model.vanish(conn);
    for (const edit of model.open) if (edit.conn === conn) edit.conn = clients[who];
    await until('the edits of a client that is gone are aborted', async () => {
      const { edits } = await clients[who].must('list_edits');
      return !edits.some((edit) => gone.includes(edit.edit_id));
    });
  }

  /** A detached edit whose time passes. */
  async function outlive() {
    if (model.open.length >= MOST_OPEN) return;
    const files = FILES.filter((path) => model.holder(path) === undefined);
    if (files.length === 0) return;
    const more = { detached: true, ttl_ms: TTL_MS };
    const { params, conn, meant } = request({ scope: 'files', files: some(files, 2), more });
    const begun = performance.now();
    const answer = await conn.call('start_edit', params);
    note('start_edit that expires', params, answer.code ?? answer.result.edit_id);
    const id = compareStart(answer, meant);
    if (id === undefined) return;
    const path = pick(params.files);
    const next = { lines: [...(model.at(path)?.lines ?? []), ...newLines()], mode: '100644' };
    put(path, next);
    await settle(true);
    const isInTime = performance.now() - begun < TTL_MS;
    await until('the edit is left incomplete', async () => {
      const { edits } = await conn.must('list_edits');
      return edits.find((edit) => edit.edit_id === id)?.state === 'incomplete';
    });
    const edit = model.open.find((one) => one.id === id);
    const late = isInTime ? false : await isUnknown(path);
    if (!late) model.change(path, next);
    model.leave(edit);
    if (late) model.change(path, next);
  }

  /** Only asked when this process was too slow to know. */
  async function isUnknown(path) {
    const { affectedFiles } = await clients[0].must('detect_unknown_modifications', {});
    return affectedFiles.includes(path);
  }

  async function restart(signal) {
    note('restart', signal);
    await settle(true);
    await daemon.stop(signal);
    const wereOpen = model.open.length > 0;
    for (const edit of [...model.open]) model.leave(edit);
    if (!wereOpen && random(2) === 0) {
      const path = pick(FILES);
      const state = { lines: newLines(), mode: '100644' };
      note('write while it is down', path);
      put(path, state);
      model.change(path, state);
    }
    daemon = await startDaemon({ root, cli, env });
    await connectAll();
    // Until its edits are closed, a change of a path that one of them had counts as theirs.
    await clients[0].must('list_edits');
  }

  // --- unknown changes

  async function detectSome() {
    const files = some(FILES, 4);
    note('detect', files);
    const found = await pick(clients).must('detect_unknown_modifications', { files });
    equal('detected', unknownOf(found), model.unknown(files));
  }

  async function handle() {
    const meant = pick(['warn', 'reject', 'integrate']);
    const files = random(2) === 0 ? undefined : some(FILES, 4);
    const params = { strategy: pick(STRATEGIES[meant]), ...(files ? { files } : {}) };
    const answer = await pick(clients).must('handle_unknown_changes', params);
    note('handle_unknown_changes', params, answer);
    const { paths, saved } = model.handle(meant, files);
    equal('success', answer.success, true);
    equal('modifiedFiles', (answer.modifiedFiles ?? []).sort(), meant === 'warn' ? [] : paths);
    equal('saved', (answer.saved ?? []).sort(byPath), saved);
    equal(
      'a compensating entry',
      answer.compensatingSnapshotId !== undefined,
      meant === 'integrate' && paths.length > 0,
    );
  }

  async function validate() {
    const files = some(FILES, 4);
    const [isStrict, isAuto] = [random(2) === 0, random(2) === 0];
    const params = { files, strictMode: isStrict, autoHandleUnknownChanges: isAuto };
    const unknown = model.unknown(files);
    const answer = await pick(clients).must('validate_files', params);
    note('validate_files', params, answer.success);
    const isRefused = isStrict || (!isAuto && strategyByDefault === 'reject');
    equal('validate', answer.success, unknown.length === 0 || !isRefused);
    if (unknown.length > 0) equal('validated', unknownOf(answer.unknownChanges), unknown);
    // Handling means a decision: under `warn` that is to take them in.
    const handled = strategyByDefault === 'warn' ? 'integrate' : strategyByDefault;
    if (isAuto && !isStrict) model.handle(handled, files);
  }

  async function setStrategy() {
    strategyByDefault = pick(['warn', 'warn', 'reject', 'integrate']);
    const unknownChangeStrategy = { warn: 'warn', reject: 'strict', integrate: 'auto-integrate' }[
      strategyByDefault
    ];
    note('update_config', unknownChangeStrategy);
    await clients[0].must('update_config', { unknownChangeStrategy });
  }

  // --- the past

  async function checkpoint() {
    if (random(3) === 0) {
      const { checkpoint: id } = await pick(clients).must('user_message', {
        content: `step ${step}`,
      });
      note('user_message', id);
      model.checkpoint(id);
      return;
    }
    const { commit_id: id } = await pick(clients).must('create_checkpoint', {
      message: `step ${step}`,
    });
    note('create_checkpoint', id);
    model.checkpoint(id);
  }

  async function restore() {
    const id = pick([...model.checkpoints.keys()].slice(-6));
    const present = [...model.disk.keys()];
    const paths = random(2) === 0 || present.length === 0 ? undefined : some(present, 2);
    const params = { checkpoint_id: id, ...(paths ? { paths } : {}) };
    const answer = await pick(clients).call('restore', params);
    note('restore', params, answer.code ?? answer.result);
    const predicted = model.restore(id, paths);
    equal('restore', answer.code, predicted.code);
    if (predicted.code !== undefined) return;
    const { restored, deleted, skipped } = answer.result;
    equal('skipped of restore', skipped, []);
    equal('restored', { restored: restored.sort(), deleted: deleted.sort() }, predicted.result);
  }

  // --- what must hold after every step

  async function compare() {
    compareDisk();
    if (random(4) === 0) {
      const found = await pick(clients).must('detect_unknown_modifications', {});
      equal('all unknown changes', unknownOf(found), model.unknown());
    }
    if (random(6) === 0) compareEdits(await pick(clients).must('list_edits'));
    const paths = random(50) === 0 ? FILES : random(2) === 0 ? [pick(FILES)] : [];
    for (const path of paths) await compareBlame(path);
  }

  function compareDisk() {
    const found = new Map(readTree(root));
    const expected = [...model.disk].map(([path, state]) => [path, `${state.mode} ${text(state)}`]);
    equal('the disk', [...found].sort(), expected.sort());
  }

  function compareEdits({ edits }) {
    const shown = edits.map(({ edit_id: id, agent, tool, state, paths, scope }) => {
      return { id, agent: agent?.name ?? null, tool, state, what: scope ?? paths.sort() };
    });
    const expected = [
      ...model.open.map((edit) => listed(edit, 'open')),
      ...[...model.incomplete.values()].map((edit) => listed(edit, 'incomplete')),
    ];
    equal('list_edits', shown.sort(byId), expected.sort(byId));
  }

  async function compareBlame(path) {
    const answer = await pick(clients).call('blame', { path });
    const authors = model.blame(path);
    if (authors === null) {
      if (answer.result !== undefined) equal(`blame of ${path}`, answer.result.lines, []);
      return;
    }
    equal(`blame of ${path}`, answer.code, undefined);
    const found = answer.result.lines.flatMap(({ from, to, by }) => Array(to - from + 1).fill(by));
    equal(`blame of ${path}`, found, authors);
  }
}

function listed({ id, listed: { agent, tool }, scope, before }, state) {
  return {
    id,
    agent,
    tool,
    state,
    what: scope === 'project' ? 'project' : [...before.keys()].sort(),
  };
}

function equal(what, actual, expected) {
  try {
    assert.deepEqual(actual, expected);
  } catch (error) {
    throw new Error(
      `${what}: the daemon says ${JSON.stringify(actual)}, the model ${JSON.stringify(expected)}`,
      { cause: error },
    );
  }
}

const unknownOf = ({ unknownChanges }) =>
  unknownChanges
    .map(({ filePath, changeType, expectedHash, actualHash }) => {
      return { filePath, changeType, expectedHash, actualHash };
    })
    .sort((a, b) => (a.filePath < b.filePath ? -1 : 1));
const withoutDiff = (file) => without(file, 'diff');
const without = (object, name) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
const pathOf = ({ path }) => path;
const idOf = ({ id }) => id;
const byPath = (a, b) => (a.path < b.path ? -1 : 1);
const byId = (a, b) => (a.id < b.id ? -1 : 1);

function* readTree(root, folder = '') {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (path === '.agentsmithy') continue;
    if (entry.isDirectory()) yield* readTree(root, path);
    else {
      const mode = (statSync(join(root, path)).mode & 0o100) === 0 ? '100644' : '100755';
      yield [path, `${mode} ${readFileSync(join(root, path), 'utf8')}`];
    }
  }
}

async function until(what, look) {
  const end = performance.now() + 60_000;
  while (!(await look())) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await pause(5);
  }
}

function randomNumbers(seed) {
  let state = seed >>> 0;
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  };
}
