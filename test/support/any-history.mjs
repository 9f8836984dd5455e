/**
 * Any events by a daemon, with restarts and kills between them. Afterwards every file at every event
 * is what it was then, and with all that is made from the ledger deleted every answer is the same to
 * the byte.
 */
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { startDaemon } from './daemon-process.mjs';
import { randomNumbers } from './random-numbers.mjs';

const PATHS = ['a.txt', 'b.txt', 'src/c.ts', 'src/d.ts', 'src/deep/e.ts', 'src/deep/f.md', 'g'];
const AGENTS = ['ann', 'bob', 'cy'];
/** Made from the ledger and the objects. */
const DERIVED = ['derived.jsonl', 'index.bin', 'segments.bin', 'diffs', 'bookmarks.json', 'blocks'];
/** For what is derived behind the answers. */
const PATIENCE_MS = 60_000;
const RESTARTS = 4;

export async function anyHistory({ root, cli, env, seed, events, samples, tell = () => {} }) {
  const random = randomNumbers(seed);
  const pick = (list) => list[random(list.length)];
  const steps = [];
  let daemon;
  let socket;
  let version = 0;
  let names = 0;

  async function start() {
    daemon = await startDaemon({ root, cli, env });
    socket = await daemon.open();
  }
  async function stop(signal) {
    socket.destroy();
    await daemon.stop(signal);
  }
  async function call(method, params = {}) {
    const { result, ...error } = await socket.call(method, params);
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  }

  const at = (path) => join(root, path);
  const isThere = (path) => existsSync(at(path));
  function write(path) {
    version += 1;
    mkdirSync(dirname(at(path)), { recursive: true });
    const old = isThere(path) ? readFileSync(at(path), 'utf8').split('\n').slice(0, 20) : [];
    old.splice(random(old.length + 1), random(2), `line ${version}`);
    writeFileSync(at(path), random(9) === 0 ? Buffer.from([0, version % 256]) : old.join('\n'));
  }
  function change(path) {
    const what = random(10);
    if (!isThere(path) || what < 6) write(path);
    else if (what === 6) rmSync(at(path));
    else if (what === 7) chmodSync(at(path), (lstatSync(at(path)).mode & 0o777) ^ 0o111);
    else {
      const to = pick(PATHS);
      mkdirSync(dirname(at(to)), { recursive: true });
      if (to !== path) renameSync(at(path), at(to));
    }
  }

  const verbs = {
    async edit() {
      const { edit_id: id } = await call('start_edit', {
        files: PATHS,
        agent: { name: pick(AGENTS) },
      });
      for (let count = 1 + random(3); count > 0; count--) change(pick(PATHS));
      await call(random(12) === 0 ? 'abort_edit' : 'finalize_edit', { edit_id: id });
    },
    async unannounced() {
      write(pick(PATHS));
      await call('create_checkpoint', { message: `save ${version}` });
    },
    message: () => call('user_message', { content: `message ${version}` }),
    approve: () => call('approve'),
    note: () => call('note', { text: `remark ${version}` }),
    reset: () => call('reset'),
    async restore() {
      const { checkpoints } = await call('list_checkpoints', { limit: 20 });
      await call('restore', { checkpoint_id: pick(checkpoints).commit_id });
    },
    bookmark: () => call('bookmark_add', { name: `name-${(names += 1)}` }),
    snapshot: () => call('snapshot_save', { name: `state ${version}` }),
    gc: () => call('gc'),
    dialog: () => call('create_dialog', { title: `dialog ${version}` }),
  };
  const often = [...Array(14).fill('edit'), ...Object.keys(verbs)].filter(Boolean);

  const newest = async () => (await call('history', { limit: 1 })).events[0];

  await start();
  try {
    for (const path of PATHS.slice(0, 4)) write(path);
    await call('create_dialog', { title: 'first' });
    let restarts = 0;
    for (let last = await newest(); last.seq < events; last = await newest()) {
      steps.push({ id: last.id, tree: treeOf(root) });
      if (last.seq > ((restarts + 1) * events) / (RESTARTS + 1)) {
        restarts += 1;
        await stop(restarts % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
        await start();
        tell(`${last.seq} events`);
        continue;
      }
      const name = pick(often);
      if (['dialog', 'reset', 'approve', 'gc'].includes(name) && random(3) > 0) continue;
      await verbs[name]();
    }
    tell('files at events');
    const checked = await checkFiles();
    tell('answers without what is derived');
    await checkAnswers();
    const { ok, damaged } = await call('verify');
    assert.ok(ok, JSON.stringify(damaged));
    return { events: (await newest()).seq, checked };
  } finally {
    await stop('SIGTERM');
  }

  async function checkFiles() {
    let checked = 0;
    for (let sample = 0; sample < samples; sample++) {
      const { id, tree } = pick(steps);
      const path = pick(PATHS);
      await same(id, path, tree.get(path) ?? null);
      checked += 1;
    }
    for (const entry of await allEvents()) {
      if (random(10) > 0) continue;
      for (const { path, after } of entry.changes.slice(-1)) {
        await same(entry.id, path, after);
        checked += 1;
      }
    }
    return checked;
  }

  async function same(id, path, expected) {
    const { result } = await socket.call('show', { at: id, path });
    assert.equal(result?.hash ?? null, expected, `${path} at ${id}`);
    if (result === undefined) return;
    const bytes = Buffer.from(
      result.content ?? result.content_base64,
      result.content === undefined ? 'base64' : 'utf8',
    );
    assert.equal(hashOf(bytes), expected, `the content of ${path} at ${id}`);
  }

  async function allEvents() {
    const all = [];
    for (let before; ;) {
      const page = await call('history', { limit: 200, ...(before && { before }) });
      all.push(...page.events);
      before = page.next;
      if (before === undefined) return all;
    }
  }

  async function checkAnswers() {
    const expected = await answersAtRest();
    await stop('SIGTERM');
    const state = join(root, '.agentsmithy');
    for (const name of DERIVED)
      rmSync(join(state, 'ledger', name), { recursive: true, force: true });
    rmSync(join(state, 'known.bin'));
    rmSync(join(state, 'dialogs/index.json'));
    for (const name of readdirSync(join(state, 'dialogs'))) {
      rmSync(join(state, 'dialogs', name, 'journal.sqlite'), { force: true });
      rmSync(join(state, 'dialogs', name, 'checkpoints/metadata.json'), { force: true });
    }
    await start();
    let found = await answers();
    // What changes are inside of is derived again: who asks at once is told less.
    const end = performance.now() + PATIENCE_MS;
    while (found.history !== expected.history && performance.now() < end) found = await answers();
    for (const [name, text] of Object.entries(expected)) assert.equal(found[name], text, name);
  }

  /** Asked again until nothing more was derived since. */
  async function answersAtRest() {
    for (let last = await answers(); ;) {
      const next = await answers();
      if (next.history === last.history) return next;
      last = next;
    }
  }

  async function answers() {
    const found = { history: await allEvents(), dialogs: await call('list_dialogs') };
    for (const list of ['bookmark_list', 'snapshot_list', 'milestone_list']) {
      found[list] = await call(list);
    }
    for (const author of AGENTS) found[author] = await call('history', { author, file: 'src' });
    for (const path of PATHS.filter(isThere)) found[path] = await call('blame', { path });
    for (const { id } of found.dialogs.dialogs) {
      found[`sessions ${id}`] = await call('list_sessions', { dialog_id: id, all: true });
      found[`log ${id}`] = await call('list_checkpoints', { dialog_id: id, limit: 1000 });
    }
    return Object.fromEntries(
      Object.entries(found).map(([name, answer]) => [name, JSON.stringify(answer)]),
    );
  }
}

function treeOf(root) {
  return new Map(
    PATHS.filter((path) => existsSync(join(root, path))).map((path) => [
      path,
      hashOf(readFileSync(join(root, path))),
    ]),
  );
}

function hashOf(bytes) {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
