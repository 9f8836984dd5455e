/**
 * The commits of a repository, made once more under a daemon as if an agent had made them. Every
 * checkpoint must be what git has of its commit, but for what the rules leave out.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { startDaemon } from './daemon-process.mjs';
import {
  changesBetween,
  commitsOf,
  gitText,
  isLink,
  isOddName,
  isPointer,
  isSame,
  treeOf,
} from './git-history.mjs';
import { entryAt, writeChanges } from './history-writer.mjs';
import { randomNumbers } from './random-numbers.mjs';

/** Up to so many files an agent names them; more is the work of a command. */
const MOST_NAMED = 20;
/** Why a restore leaves a path as it is: what was not saved then is not deleted, what is not saved now not replaced. */
const MAY_STAY = {
  ignored_at_checkpoint: ({ path, saved }) => !saved.has(path),
  in_the_way: ({ path, tracked }) => !tracked.has(path),
};

export async function realHistory({ repository, root, cli, env, commits, seed, samples, tell }) {
  const list = commitsOf(repository, commits);
  const daemon = await startDaemon({ root, cli, env });
  try {
    const client = await daemon.open();
    const walk = new Walk({ repository, root, client });
    for (const commit of list) await walk.take(commit, tell);
    const restored = await walk.restoreSome(randomNumbers(seed), samples);
    const { ok, damaged } = await client.must('verify');
    if (!ok) throw new Error(`verify found ${JSON.stringify(damaged)}`);
    const { store, ledger } = await client.must('status');
    client.destroy();
    return {
      ...walk.figures(),
      restored,
      store: { bytes: store.bytes, ledger: ledger.bytes },
      repository: repositorySize(repository, list),
    };
  } finally {
    await daemon.stop('SIGTERM');
  }
}

class Walk {
  #repository;
  #root;
  #client;
  #dialog;
  #tree = new Map();
  /** One for each commit: its checkpoint and the tree that must be in it. */
  #made = [];
  #times = { checkpoint: [], start: [], finalize: [] };
  #counts = { files: 0, bytes: 0, named: 0, commands: 0, empty: 0 };
  /** Reason -> paths that were ever left out for it. */
  #leftOut = new Map();

  constructor({ repository, root, client }) {
    this.#repository = repository;
    this.#root = root;
    this.#client = client;
  }

  async take({ id, subject }, tell) {
    if (this.#dialog === undefined) {
      ({ dialog_id: this.#dialog } = await this.#client.must('create_dialog', { title: 'real' }));
    }
    const tree = treeOf(this.#repository, id);
    const changes = changesBetween(this.#tree, tree);
    await this.#edit(changes, subject);
    this.#tree = tree;
    const { checkpoint } = await this.#timed('checkpoint', 'user_message', {
      content: subject === '' ? id : subject,
    });
    const saved = treeOf(this.#checkpoints(), checkpoint);
    await this.#compare({ id, saved, tree });
    this.#made.push({ id, checkpoint, saved });
    tell?.(`${this.#made.length} ${id.slice(0, 12)} ${changes.length} files ${subject}`);
  }

  async #edit(changes, rationale) {
    if (changes.length === 0) {
      this.#counts.empty++;
      return;
    }
    const isNamed = changes.length <= MOST_NAMED && changes.every(isPlain) && !hasTurned(changes);
    this.#counts[isNamed ? 'named' : 'commands']++;
    const what = isNamed
      ? { files: changes.map(({ path }) => path), agent: { name: 'historian' } }
      : { scope: 'project', tool: 'history' };
    const { edit_id: edit } = await this.#timed('start', 'start_edit', { ...what, rationale });
    const bytes = writeChanges({ repository: this.#repository, root: this.#root, changes });
    this.#counts.files += changes.length;
    this.#counts.bytes += bytes;
    await this.#timed('finalize', 'finalize_edit', { edit_id: edit });
  }

  /** What is saved is what git has; what is not saved is left out by a rule that says so. */
  async #compare({ id, saved, tree }) {
    const wrong = [];
    for (const [path, entry] of saved) {
      if (!isSame(entry, tree.get(path))) {
        wrong.push(`${path}: saved ${word(entry)}, git has ${word(tree.get(path))}`);
      }
    }
    for (const [path, entry] of tree) {
      if (saved.has(path)) continue;
      const reason = await this.#reasonOf(path, entry);
      if (reason === undefined) wrong.push(`${path}: not saved, and no rule leaves it out`);
      else this.#leaveOut(reason, path);
    }
    if (wrong.length > 0) {
      throw new Error(`commit ${id} differs in ${wrong.length}: ${wrong.slice(0, 20).join('; ')}`);
    }
  }

  async #reasonOf(path, entry) {
    if (isPointer(entry)) return 'submodule pointer';
    if (isOddName(path)) return 'name is not UTF-8';
    const { why } = await this.#client.must('status', { why: path });
    return why.tracked ? undefined : why.reason;
  }

  #leaveOut(reason, path) {
    const paths = this.#leftOut.get(reason) ?? new Set();
    this.#leftOut.set(reason, paths.add(path));
  }

  /** Goes back to some of them in any order, exactly, and ends where it began. */
  async restoreSome(random, samples) {
    const last = this.#made.at(-1);
    const chosen = Array.from({ length: samples }, () => this.#made[random(this.#made.length)]);
    let stayed = 0;
    for (const one of [...chosen, last]) stayed += await this.#restore(one);
    return { checkpoints: chosen.length + 1, stayed };
  }

  async #restore({ id, checkpoint, saved }) {
    const tracked = new Set((await this.#known()).map(({ path }) => path));
    const { skipped } = await this.#client.must('restore', {
      checkpoint_id: checkpoint,
      mode: 'exact',
    });
    const stays = new Map(skipped.map(({ path, reason }) => [path, reason]));
    const wrong = skipped
      .filter(({ path, reason }) => MAY_STAY[reason]?.({ path, saved, tracked }) !== true)
      .map(({ path, reason }) => `${path}: skipped as ${reason}`);
    for (const [path, entry] of saved) {
      const found = entryAt(this.#root, path);
      if (!stays.has(path) && !isSame(found, entry)) {
        wrong.push(`${path}: on disk ${word(found)}, git has ${word(entry)}`);
      }
    }
    for (const { path } of await this.#known()) {
      if (saved.has(path) || stays.has(path)) continue;
      // Ignored until the restore brought other rules: never ours to delete.
      if (tracked.has(path)) wrong.push(`${path}: is there and should not be`);
      else stays.set(path, 'ignored');
    }
    if (wrong.length > 0) {
      throw new Error(`a restore of ${id} differs: ${wrong.slice(0, 20).join('; ')}`);
    }
    return stays.size;
  }

  async #known() {
    const all = [];
    for (let after; ;) {
      const page = await this.#client.must('known_files', after === undefined ? {} : { after });
      all.push(...page.files);
      if (page.next === undefined || page.next === null) return all;
      after = page.next;
    }
  }

  figures() {
    const left = [...this.#leftOut].map(([reason, paths]) => [reason, paths.size]);
    return {
      commits: this.#made.length,
      paths: this.#tree.size,
      ...this.#counts,
      leftOut: Object.fromEntries(left),
      ms: Object.fromEntries(
        Object.entries(this.#times).map(([what, times]) => [what, percentiles(times)]),
      ),
    };
  }

  #checkpoints() {
    return join(this.#root, '.agentsmithy/dialogs', this.#dialog, 'checkpoints');
  }

  async #timed(what, method, params) {
    const begun = performance.now();
    const answer = await this.#client.must(method, params);
    this.#times[what].push(performance.now() - begun);
    return answer;
  }
}

/** A file that stays one: what an agent would name. */
function isPlain({ path, before, entry }) {
  return !isOddName(path) && [before, entry].every((one) => one === undefined || isFile(one));
}

/** A file that becomes a folder cannot be named together with what will be in it. */
function hasTurned(changes) {
  return changes.some(({ path }) => changes.some((other) => other.path.startsWith(`${path}/`)));
}

const isFile = (entry) => !isLink(entry) && !isPointer(entry);
const word = (entry) => (entry === undefined ? 'nothing' : `${entry.mode} ${entry.hash}`);

function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const rounded = (ms) => (ms === undefined ? null : Math.round(ms * 10) / 10);
  return { p50: rounded(at(0.5)), p99: rounded(at(0.99)), most: rounded(sorted.at(-1)) };
}

/** Of the whole repository, and of what these commits need of it. */
function repositorySize(repository, list) {
  const folder = gitText(repository, ['rev-parse', '--absolute-git-dir']).trim();
  const [kibibytes] = execFileSync('du', ['-sk', join(folder, 'objects')], {
    encoding: 'utf8',
  }).split('\t');
  const ids = list.map(({ id }) => id);
  const needed = gitText(repository, [
    'rev-list',
    '--no-walk',
    '--objects',
    '--disk-usage',
    ...ids,
  ]);
  return { bytes: Number(kibibytes) * 1024, commits: Number(needed) };
}
