import type { EditFacts, OpenEdit } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import type { DialogId, EditId, Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import type { Dialogs } from './dialogs.js';
import { EditAborts, type AbortAnswer, type MayRemove } from './edit-aborts.js';
import {
  answerAgain,
  answerFor,
  fromLine,
  toListed,
  type EditAnswer,
  type StartAnswer,
} from './edit-answer.js';
import type { EditRecord } from './edit-book.js';
import { EditEnds, type EditEndDeps, type LastWord } from './edit-ends.js';
import { editConflict, restoreBlocked, tooMany } from './edit-refusals.js';
import { EditStarts, type EditStartDeps, type Started, type Strategy } from './edit-starts.js';
import { Releases } from './releases.js';
import type { MoveDeps } from './tree-moves.js';

export interface StartParams {
  readonly files?: readonly string[] | undefined;
  readonly agent?: { readonly name: string; readonly version?: string | undefined } | undefined;
  readonly tool?: string | undefined;
  readonly rationale?: string | undefined;
  readonly runId?: string | undefined;
  readonly strategy?: Strategy | undefined;
  readonly expect?: Readonly<Record<string, string | null>> | undefined;
  readonly waitMs?: number | undefined;
  readonly ttlMs?: number | undefined;
  readonly detached?: boolean | undefined;
  readonly dialog?: string | undefined;
  readonly requestId?: string | undefined;
}

/** The other end of a connected edit. */
export interface Holder {
  /** The same object for all calls of one connection. */
  readonly identity: object;
  readonly onGone: (release: () => void) => void;
}

export interface EditsDeps extends EditStartDeps, EditEndDeps, MoveDeps {
  readonly dialogs: Dialogs;
  readonly newEditId: () => EditId;
}

/** What is remembered of an edit only as long as it is open. */
interface Tie {
  readonly mayRemove: MayRemove;
  readonly holder: object | undefined;
  readonly expiresAt: number | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

const MOST_OPEN = 1_000;
const MOST_PER_CLIENT = 64;
/** Beyond it a timer of Node's fires at once. */
const LONGEST_TTL_MS = 24 * 60 * 60 * 1_000;

/** The protocol around a change: who may write what, who did, and how it is taken back. */
export class Edits {
  readonly #deps: EditsDeps;
  readonly #starts: EditStarts;
  readonly #ends: EditEnds;
  readonly #aborts: EditAborts;
  readonly #ties = new Map<EditId, Tie>();
  readonly #releases = new Releases();
  /** One end at a time for each edit. */
  readonly #ending = new Map<EditId, Promise<unknown>>();
  readonly #starting = new Map<string, Promise<StartAnswer>>();
  readonly #underWay = new Set<{ readonly owner: object | undefined }>();
  readonly #watched = new WeakSet<object>();
  #isClosing = false;

  constructor(deps: EditsDeps) {
    this.#deps = deps;
    this.#starts = new EditStarts(deps);
    this.#ends = new EditEnds(deps);
    this.#aborts = new EditAborts(deps);
  }

  get open(): number {
    return this.#deps.claims.table.size;
  }

  async start(params: StartParams, holder: Holder): Promise<StartAnswer> {
    const { requestId } = params;
    if (requestId === undefined) return this.#startInRoom(params, holder);
    // The same call again, maybe while the first is still under way.
    const under = this.#starting.get(requestId) ?? this.#startInRoom(params, holder);
    this.#starting.set(requestId, under);
    return under.finally(() => this.#starting.delete(requestId));
  }

  /** Those under way count too, or many at once would pass the limit together. */
  async #startInRoom(params: StartParams, holder: Holder): Promise<StartAnswer> {
    const owner = params.detached === true ? undefined : holder.identity;
    this.#requireRoom(owner);
    const seat = { owner };
    this.#underWay.add(seat);
    try {
      return await this.#start(params, holder);
    } finally {
      this.#underWay.delete(seat);
    }
  }

  async #start(params: StartParams, holder: Holder): Promise<StartAnswer> {
    const { clock, config, queue, editBook, root } = this.#deps;
    const { requestId } = params;
    await queue.share(() => undefined);
    const before = requestId === undefined ? undefined : editBook.byRequest(requestId);
    if (before !== undefined) return answerAgain(before);
    const paths = [...new Set((params.files ?? []).map((path) => toPath(path, root)))];
    const expect = new Map(
      Object.entries(params.expect ?? {}).map(([path, hash]) => [toPath(path, root), hash]),
    );
    const facts = await this.#facts(params);
    const strategy = params.strategy ?? strategyOf(config().unknownChangeStrategy);
    const deadline = clock.monotonic() + (params.waitMs ?? config().edits.waitMs);
    for (;;) {
      const released = this.#releases.next();
      try {
        const started = await this.#starts.start({ facts, paths, strategy, expect });
        if (started !== undefined) {
          this.#tie(started, holder);
          return answerFor(started);
        }
        const left = deadline - clock.monotonic();
        if (left <= 0 || !(await released.within(left))) throw this.#conflict(paths);
      } finally {
        released.cancel();
      }
    }
  }

  finalize(given: string, word: LastWord): Promise<EditAnswer> {
    return this.#end(given, async (record, edit) => {
      if (edit !== undefined) {
        const answer = await this.#ends.finalize(edit, word);
        this.#untie(edit.facts.id);
        return answer;
      }
      if (record.end === 'aborted') throw ended(record, 'aborted');
      if (record.end === 'incomplete') await this.#ends.confirm(record, word);
      return this.#recorded(record);
    });
  }

  abort(given: string): Promise<AbortAnswer> {
    return this.#end(given, async (record, edit) => {
      if (edit !== undefined) return this.#abort(edit, 'asked');
      if (record.end === 'incomplete') {
        const { newFolders, facts } = record;
        const isNew = (folder: Path): boolean => newFolders.includes(folder);
        return this.#aborts.revert(record, facts.scope === 'files' ? isNew : () => false);
      }
      throw ended(record, record.end === 'aborted' ? 'aborted' : 'finalized');
    });
  }

  async list() {
    const { claims, editBook, queue } = this.#deps;
    await queue.share(() => undefined);
    const open = claims.table.list().map(({ facts, before }) => {
      const expiresAt = this.#ties.get(facts.id)?.expiresAt;
      const expires_at = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
      return { ...toListed(facts, before.keys()), state: 'open' as const, expires_at };
    });
    const left = editBook.incomplete().map(({ facts, before }) => {
      return { ...toListed(facts, before.keys()), state: 'incomplete' as const, expires_at: null };
    });
    return { edits: [...open, ...left] };
  }

  /** @throws SmithyError RESTORE_BLOCKED when one of these is being edited. */
  requireFree(paths: Iterable<Path>): void {
    for (const path of paths) {
      const edit = this.#deps.claims.table.claimant(path);
      if (edit !== undefined) throw restoreBlocked(edit, path);
    }
  }

  /** The daemon is stopping: connections end, and that says nothing about their edits. */
  close(): void {
    this.#isClosing = true;
    for (const { timer } of this.#ties.values()) clearTimeout(timer);
  }

  /** An edit that outlived its time or the daemon: what it changed stays, under its name. */
  async leave(edit: OpenEdit, reason: string): Promise<void> {
    await this.#ends.leave(edit, reason);
    this.#untie(edit.facts.id);
  }

  #requireRoom(owner: object | undefined): void {
    if (this.open + this.#underWay.size >= MOST_OPEN) {
      throw tooMany('edits can be open', 'open edits', MOST_OPEN);
    }
    if (owner === undefined) return;
    const own = [...this.#ties.values()].filter(({ holder }) => holder === owner).length;
    const coming = [...this.#underWay].filter((seat) => seat.owner === owner).length;
    if (own + coming < MOST_PER_CLIENT) return;
    throw tooMany('edits of one client can be open', 'edits per client', MOST_PER_CLIENT);
  }

  async #facts(params: StartParams): Promise<EditFacts> {
    const { clock, config, newEditId } = this.#deps;
    const { agent, detached = false } = params;
    return {
      id: newEditId(),
      scope: params.files === undefined ? 'project' : 'files',
      agent: agent === undefined ? null : { name: agent.name, version: agent.version ?? null },
      tool: params.tool ?? null,
      rationale: params.rationale ?? null,
      runId: params.runId ?? null,
      dialog: await this.#dialog(params.dialog),
      since: new Date(clock.now()).toISOString(),
      detached,
      ttlMs: params.ttlMs ?? (detached ? config().edits.ttlMs : null),
      requestId: params.requestId ?? null,
    };
  }

  async #dialog(given: string | undefined): Promise<DialogId> {
    const { book, dialogs, queue } = this.#deps;
    const present = book.find(given);
    return (present ?? (await queue.run(() => dialogs.wanted(given)))).id;
  }

  #conflict(paths: readonly Path[]): SmithyError {
    const holder = this.#deps.claims.table.holder(paths);
    if (holder !== undefined) return editConflict(holder, paths);
    return new SmithyError('BUSY', 'A path was held until just now.', {
      hint: 'Call again.',
      data: { retry_after_ms: 0 },
    });
  }

  #tie({ edit, newFolders }: Started, holder: Holder): void {
    const { clock, watcher, log } = this.#deps;
    const { id, scope, detached, ttlMs } = edit.facts;
    const emptyBefore = new Set(scope === 'project' ? watcher.emptyFolders() : []);
    const expire = (): void => {
      this.#end(id, async (_, open) => open && this.leave(open, 'its time is over')).catch(
        (error: unknown) =>
          log.write('error', 'an edit could not be closed', { error: String(error) }),
      );
    };
    const inMs = Math.min(ttlMs ?? 0, LONGEST_TTL_MS);
    this.#ties.set(id, {
      mayRemove: (folder) =>
        scope === 'project' ? !emptyBefore.has(folder) : newFolders.includes(folder),
      holder: detached ? undefined : holder.identity,
      expiresAt: ttlMs === null ? undefined : clock.now() + inMs,
      timer: ttlMs === null ? undefined : setTimeout(expire, inMs).unref(),
    });
    if (!detached) this.#watch(holder);
  }

  /** Once for each connection, however many edits it opens. */
  #watch({ identity, onGone }: Holder): void {
    if (this.#watched.has(identity)) return;
    this.#watched.add(identity);
    onGone(() => {
      // A start that is still under way ties itself to it later, and must be told as well.
      this.#watched.delete(identity);
      const own = [...this.#ties].filter(([, { holder }]) => holder === identity);
      for (const [id] of own) void this.#vanished(id);
    });
  }

  #untie(id: EditId): void {
    clearTimeout(this.#ties.get(id)?.timer);
    this.#ties.delete(id);
    this.#releases.tell();
  }

  /** Nobody is left to say how it ended, and nobody has been told that anything was kept. */
  async #vanished(id: EditId): Promise<void> {
    if (this.#isClosing || !this.#ties.has(id)) return;
    try {
      await this.#end(id, async (_, edit) => edit && this.#abort(edit, 'its client is gone'));
    } catch (error) {
      this.#deps.log.write('error', 'an edit could not be aborted', {
        edit: id,
        error: String(error),
      });
    }
  }

  async #abort(edit: OpenEdit, reason: string): Promise<AbortAnswer> {
    const { id } = edit.facts;
    const answer = await this.#aborts.abort(edit, reason, this.#ties.get(id)?.mayRemove ?? never);
    this.#untie(id);
    return answer;
  }

  async #recorded(record: EditRecord): Promise<EditAnswer> {
    const entries = await Promise.all(record.lines.map((seq) => this.#deps.editBook.entry(seq)));
    const there = entries.filter((entry) => entry !== undefined);
    return {
      edit_id: record.facts.id,
      files: there.flatMap((entry) => fromLine(entry) ?? []),
      events: there.map(({ id }) => id),
      skipped: [],
    };
  }

  /** Runs the end of an edit after any other end of it: the second finds what the first did. */
  async #end<T>(
    given: string,
    work: (record: EditRecord, edit: OpenEdit | undefined) => Promise<T>,
  ): Promise<T> {
    const { editBook, claims, queue } = this.#deps;
    await queue.share(() => undefined);
    const { id } = editBook.find(given).facts;
    const before = this.#ending.get(id) ?? Promise.resolve();
    const mine = before.then(() => work(editBook.find(id), claims.table.get(id)));
    const settled = mine.catch(() => undefined);
    this.#ending.set(id, settled);
    try {
      return await mine;
    } finally {
      if (this.#ending.get(id) === settled) this.#ending.delete(id);
    }
  }
}

const never: MayRemove = () => false;

export function strategyOf(
  given: 'strict' | 'reject' | 'warn' | 'auto-integrate' | 'integrate',
): Strategy {
  if (given === 'strict') return 'reject';
  return given === 'auto-integrate' ? 'integrate' : given;
}

function ended({ facts }: EditRecord, how: string): SmithyError {
  return new SmithyError('EDIT_NOT_FOUND', `The edit ${facts.id} was ${how} already.`, {
    hint: 'Start a new one; `smithyd edit list` shows what is open.',
    data: { id: facts.id, near: [] },
  });
}
