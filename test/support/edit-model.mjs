/**
 * What the edit protocol promises, written down from its specification and not from its source:
 * who has a path, which changes are unknown, who wrote which line, and what every call answers.
 * Lines are unique strings that never change their order, so what two texts share is plain.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';

/** A file: its lines (each ends with a newline) and whether it is executable; null: no file. */
export const text = ({ lines }) => lines.map((line) => `${line}\n`).join('');

export function hash(state) {
  if (state === null) return null;
  const bytes = Buffer.from(text(state));
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

const same = (a, b) =>
  a === b || (a !== null && b !== null && a.mode === b.mode && text(a) === text(b));

/** What stays keeps its author, what is new is by `by`. */
function ascribe(before, after, by) {
  if (after === null) return null;
  const had = new Map((before?.lines ?? []).map((line, i) => [line, before.authors[i]]));
  return { ...after, authors: after.lines.map((line) => had.get(line) ?? by) };
}

const plain = (state) => (state === null ? null : { lines: state.lines, mode: state.mode });

export function byOf({ scope, agent, tool, dialog }) {
  const byAgent = agent && `agent:${agent}`;
  const byTool = tool && `command:${tool}`;
  if (scope === 'project') return byTool ?? byAgent ?? 'command:shell';
  return byAgent ?? byTool ?? `dialog:${dialog}`;
}

/** Of more changes that nobody announced only those files have moved that are what they were. */
const MOST_LOOKED_INTO = 8;

export class EditModel {
  /** path -> state. */
  disk = new Map();
  /** path -> state with the author of each line. */
  known = new Map();
  /** In the order of their starts. */
  open = [];
  /** Edits that outlived their time or the daemon. */
  incomplete = new Map();
  ended = new Map();
  /** Checkpoint -> the whole project with its authors. */
  checkpoints = new Map();

  constructor(files) {
    for (const [path, state] of files) {
      this.disk.set(path, state);
      this.known.set(path, ascribe(null, state, 'baseline'));
    }
  }

  at(path) {
    return this.disk.get(path) ?? null;
  }

  knownAt(path) {
    return this.known.get(path) ?? null;
  }

  paths() {
    return [...new Set([...this.disk.keys(), ...this.known.keys()])].sort();
  }

  holder(path) {
    return this.open.find((edit) => edit.scope === 'files' && edit.before.has(path));
  }

  /** Who holds the path, or the project edit that touched it first. */
  claimant(path) {
    return this.holder(path) ?? this.open.find((edit) => edit.before.has(path));
  }

  /** Somebody, anybody, made a path something else. */
  change(path, state) {
    const before = this.at(path);
    if (same(before, state)) return;
    const newest = this.open.filter(({ scope }) => scope === 'project').at(-1);
    const owner = this.claimant(path) ?? newest;
    if (owner !== undefined && !owner.before.has(path)) owner.before.set(path, before);
    this.#put(path, state);
  }

  #put(path, state) {
    if (state === null) this.disk.delete(path);
    else this.disk.set(path, plain(state));
  }

  #learn(path, state) {
    if (state === null) this.known.delete(path);
    else this.known.set(path, state);
  }

  unknown(paths = this.paths()) {
    return [...new Set(paths)]
      .sort()
      .filter((path) => this.claimant(path) === undefined)
      .filter((path) => !same(plain(this.knownAt(path)), this.at(path)))
      .map((path) => {
        const [expected, actual] = [plain(this.knownAt(path)), this.at(path)];
        const changeType = expected === null ? 'created' : actual === null ? 'deleted' : 'modified';
        return {
          filePath: path,
          changeType,
          expectedHash: hash(expected),
          actualHash: hash(actual),
        };
      });
  }

  /** Every line that is on disk now, with its author as far as anybody can tell now. */
  blame(path) {
    return this.#pending(path)?.authors ?? null;
  }

  #pending(path) {
    const claim = this.claimant(path);
    const now = this.at(path);
    if (claim === undefined) return ascribe(this.knownAt(path), now, 'unknown');
    const begun = ascribe(this.knownAt(path), claim.before.get(path), 'unknown');
    return ascribe(begun, now, claim.by);
  }

  /** Writes down what became of some paths: the known state moves, moved files keep their authors. */
  #record(spans, by, least = 50) {
    const results = spans.map(({ path, before, after }) => ({ path, before, after }));
    const begun = new Map(
      results.map(({ path, before }) => [path, ascribe(this.knownAt(path), before, 'unknown')]),
    );
    const moves = movesOf(results, least);
    for (const { path, before, after } of results) {
      if (same(before, after)) continue;
      const from = [...moves].find(([, to]) => to === path)?.[0];
      this.#learn(path, ascribe(begun.get(from ?? path), after, by));
    }
    return { begun, answer: toAnswer(results, moves) };
  }

  #spans(edit) {
    return [...edit.before].map(([path, before]) => ({ path, before, after: this.at(path) }));
  }

  // --- the calls; each answers { result } or { code }

  /** What a start would meet; `strategy` is one of warn, reject, integrate. */
  start({ id, conn, scope, files, expect, strategy, by, detached, listed }) {
    const paths = [...new Set(files ?? [])];
    const holder = paths.map((path) => this.holder(path)).find((edit) => edit !== undefined);
    if (holder !== undefined) return { code: 'EDIT_CONFLICT', holder: holder.id };
    const stale = Object.entries(expect ?? {})
      .filter(([path, expected]) => hash(this.at(path)) !== expected)
      .map(([path]) => path);
    if (stale.length > 0) return { code: 'STALE_READ', stale };
    const unknown = this.unknown(scope === 'files' ? paths : undefined);
    if (strategy === 'reject' && unknown.length > 0) return { code: 'UNKNOWN_CHANGES', unknown };
    if (strategy === 'integrate') this.#integrate(unknown);
    const edit = { id, conn, scope, by, detached, listed, before: new Map(), passedOn: [] };
    for (const path of paths) {
      const from = this.claimant(path);
      if (from !== undefined) {
        const span = { path, before: from.before.get(path), after: this.at(path) };
        const { answer } = this.#record([span], from.by);
        from.before.delete(path);
        if (!same(span.before, span.after)) from.passedOn.push(...answer);
      }
      edit.before.set(path, this.at(path));
    }
    this.open.push(edit);
    const found = paths.map((path) => {
      return { path, exists: this.disk.has(path), hash: hash(this.at(path)) };
    });
    return { result: { files: found, unknown } };
  }

  #integrate(unknown) {
    const spans = unknown.map(({ filePath: path }) => {
      return { path, before: plain(this.knownAt(path)), after: this.at(path) };
    });
    const changes = spans.length - movesOf(spans, 100).size;
    this.#record(spans, 'unknown', changes > MOST_LOOKED_INTO ? 100 : 50);
  }

  #close(edit) {
    this.open = this.open.filter((one) => one !== edit);
  }

  finalize(id) {
    const edit = this.open.find((one) => one.id === id);
    if (edit === undefined) {
      const left = this.incomplete.get(id) ?? this.ended.get(id);
      if (left?.files === undefined) return { code: 'EDIT_NOT_FOUND' };
      this.incomplete.delete(id);
      this.ended.set(id, left);
      return { result: { files: left.files } };
    }
    const { answer } = this.#record(this.#spans(edit), edit.by);
    this.#close(edit);
    const files = [...edit.passedOn, ...answer].sort(byPath);
    this.ended.set(id, { files: files.filter(({ change }) => change !== 'unchanged') });
    return { result: { files } };
  }

  abort(id) {
    const edit = this.open.find((one) => one.id === id);
    const left = this.incomplete.get(id);
    if (edit === undefined && left === undefined) return { code: 'EDIT_NOT_FOUND' };
    this.ended.set(id, {});
    if (edit !== undefined) {
      const spans = this.#spans(edit);
      this.#close(edit);
      return { result: this.#takeBack(spans) };
    }
    this.incomplete.delete(id);
    const skipped = [];
    const mine = left.spans.filter(({ path, before, after }) => {
      if (same(before, after)) return false;
      const isFree = this.claimant(path) === undefined && same(this.at(path), after);
      if (!isFree) skipped.push(path);
      return isFree;
    });
    const result = this.#takeBack(mine);
    for (const { path } of mine) this.#learn(path, left.begun.get(path) ?? null);
    return { result: { ...result, skipped: skipped.sort() } };
  }

  #takeBack(spans) {
    const result = { restored: [], removed: [], saved: [], skipped: [] };
    for (const { path, before } of spans) {
      const now = this.at(path);
      if (same(before, now)) continue;
      (before === null ? result.removed : result.restored).push(path);
      if (now !== null) result.saved.push({ path, hash: hash(now) });
      this.#put(path, before);
    }
    result.restored.sort();
    result.removed.sort();
    result.saved.sort(byPath);
    return result;
  }

  /** Time is over, or the daemon is: what is there stays, under the edit's name. */
  leave(edit) {
    const spans = this.#spans(edit);
    const { begun, answer } = this.#record(spans, edit.by);
    this.#close(edit);
    const files = [...edit.passedOn, ...answer]
      .filter(({ change }) => change !== 'unchanged')
      .sort(byPath);
    this.incomplete.set(edit.id, { ...edit, spans, begun, files });
  }

  vanish(conn) {
    for (const edit of this.open.filter((one) => one.conn === conn && !one.detached)) {
      this.abort(edit.id);
    }
  }

  handle(strategy, files) {
    const unknown = this.unknown(files);
    const paths = unknown.map(({ filePath }) => filePath);
    if (strategy === 'integrate') this.#integrate(unknown);
    if (strategy !== 'reject') return { paths, saved: [] };
    const saved = unknown
      .filter(({ actualHash }) => actualHash !== null)
      .map(({ filePath: path, actualHash }) => ({ path, hash: actualHash }));
    for (const path of paths) this.#put(path, this.knownAt(path));
    return { paths, saved };
  }

  /** A checkpoint takes in what is unknown, and remembers everything. */
  checkpoint(id) {
    this.#integrate(this.unknown());
    this.checkpoints.set(id, new Map([...this.disk.keys()].map((p) => [p, this.#pending(p)])));
  }

  /** Which paths a restore would write or delete; undefined paths: the whole project. */
  affected(id, paths) {
    const target = this.checkpoints.get(id);
    const all = [...new Set([...this.disk.keys(), ...target.keys()])].sort();
    const isNamed = (path) =>
      paths === undefined || paths.some((one) => path === one || path.startsWith(`${one}/`));
    return all.filter(
      (path) => isNamed(path) && !same(this.at(path), plain(target.get(path) ?? null)),
    );
  }

  restore(id, paths) {
    const affected = this.affected(id, paths);
    const held = affected.find((path) => this.claimant(path) !== undefined);
    if (held !== undefined) return { code: 'RESTORE_BLOCKED' };
    const target = this.checkpoints.get(id);
    this.#integrate(this.unknown());
    for (const path of affected) {
      const state = target.get(path) ?? null;
      this.#put(path, state);
      this.#learn(path, state);
    }
    const restored = affected.filter((path) => target.has(path));
    return { result: { restored, deleted: affected.filter((path) => !target.has(path)) } };
  }
}

const byName = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const byPath = (a, b) => byName(a.path, b.path);

/**
 * Old path -> new path. A file that is gone and one that is new are the same file when they share
 * at least so many hundredths of the longer one; the most alike first, of equals those that kept
 * their name, then by path.
 */
function movesOf(results, least) {
  const gone = results.filter(({ before, after }) => before !== null && after === null);
  const come = results.filter(({ before, after }) => before === null && after !== null);
  const pairs = gone.flatMap((from) =>
    come.map((to) => ({ from: from.path, to: to.path, share: alike(from.before, to.after) })),
  );
  const moves = new Map();
  const taken = new Set();
  for (const { from, to, share } of pairs.sort(byShare)) {
    if (share < least || moves.has(from) || taken.has(to)) continue;
    moves.set(from, to);
    taken.add(to);
  }
  return moves;
}

const keptName = ({ from, to, share }) => share === 100 && basename(from) === basename(to);
const byShare = (a, b) =>
  b.share - a.share ||
  Number(keptName(b)) - Number(keptName(a)) ||
  byName(a.from, b.from) ||
  byName(a.to, b.to);

function alike(a, b) {
  const longest = Math.max(text(a).length, text(b).length);
  if (longest === 0) return 0;
  const shared = a.lines.filter((line) => b.lines.includes(line));
  return Math.floor((text({ lines: shared }).length * 100) / longest);
}

function toAnswer(results, moves) {
  const movedTo = new Map([...moves].map(([from, to]) => [to, from]));
  return results
    .filter(({ path }) => !moves.has(path))
    .map(({ path, before, after }) => {
      const from = movedTo.get(path);
      const old = from === undefined ? before : results.find((one) => one.path === from).before;
      const shared = new Set(old?.lines ?? []);
      const present = new Set(after?.lines ?? []);
      return {
        path,
        ...(from === undefined ? {} : { from }),
        change: from === undefined ? changeOf(before, after) : 'renamed',
        before: hash(old),
        after: hash(after),
        additions: [...present].filter((line) => !shared.has(line)).length,
        deletions: [...shared].filter((line) => !present.has(line)).length,
      };
    })
    .sort(byPath);
}

function changeOf(before, after) {
  if (same(before, after)) return 'unchanged';
  if (before === null) return 'created';
  return after === null ? 'deleted' : 'modified';
}
