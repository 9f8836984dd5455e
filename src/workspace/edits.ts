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
import { editConflict, ended, restoreBlocked, tooMany } from './edit-refusals.js';
import { EditStarts, type EditStartDeps, type Started, type Strategy } from './edit-starts.js';
import { EditTies, type Holder } from './edit-ties.js';
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

export interface EditsDeps extends EditStartDeps, EditEndDeps, MoveDeps {
  readonly dialogs: Dialogs;
  readonly newEditId: () => EditId;
}

/** Whoever repeats a call comes in the place of the caller before. */
interface Call {
  holder: Holder;
}

const MOST_OPEN = 1_000;
const MOST_PER_CLIENT = 64;
/** When an end that failed is tried again: a burst is over by then, a full disk is not asked often. */
const RETRY_MS = 5_000;

/** The protocol around a change: who may write what, who did, and how it is taken back. */
export class Edits {
  readonly #deps: EditsDeps;
  readonly #starts: EditStarts;
  readonly #ends: EditEnds;
  readonly #aborts: EditAborts;
  readonly #ties: EditTies;
  readonly #releases = new Releases();
  /** One end at a time for each edit. */
  readonly #ending = new Map<EditId, Promise<unknown>>();
  readonly #starting = new Map<
    string,
    { readonly call: Call; readonly answer: Promise<StartAnswer> }
  >();
  readonly #underWay = new Set<{ readonly owner: object | undefined }>();
  #isClosing = false;

  constructor(deps: EditsDeps) {
    this.#deps = deps;
    this.#starts = new EditStarts(deps);
    this.#ends = new EditEnds(deps);
    this.#aborts = new EditAborts(deps);
    this.#ties = new EditTies({
      now: () => deps.clock.now(),
      expired: (id) => this.leaveUnasked(id, 'its time is over'),
      vanished: (id, holder) => this.#abandoned(id, holder),
    });
  }

  get open(): number {
    return this.#deps.claims.table.size;
  }

  start(params: StartParams, holder: Holder): Promise<StartAnswer> {
    const { requestId, detached = false } = params;
    const under = requestId === undefined ? undefined : this.#starting.get(requestId);
    if (under !== undefined) {
      if (!detached) under.call.holder = holder;
      return under.answer;
    }
    const call = { holder };
    const answer = this.#startInRoom(params, call);
    if (requestId === undefined) return answer;
    this.#starting.set(requestId, { call, answer });
    return answer.finally(() => this.#starting.delete(requestId));
  }

  /** Those under way count too, or many at once would pass the limit together. */
  async #startInRoom(params: StartParams, call: Call): Promise<StartAnswer> {
    const owner = params.detached === true ? undefined : call.holder.identity;
    this.#requireRoom(owner);
    const seat = { owner };
    this.#underWay.add(seat);
    try {
      return await this.#start(params, call);
    } finally {
      this.#underWay.delete(seat);
    }
  }

  async #start(params: StartParams, call: Call): Promise<StartAnswer> {
    const { clock, config, root } = this.#deps;
    const before = await this.#startedBefore(params, call);
    if (before !== undefined) return before;
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
          this.#tie(started, call.holder);
          return answerFor(started);
        }
        const left = deadline - clock.monotonic();
        if (left <= 0 || !(await released.within(left))) throw this.#conflict(paths);
      } finally {
        released.cancel();
      }
    }
  }

  /** Of a call that came before; an edit that is not there any more would keep nobody off. */
  async #startedBefore(
    { requestId, detached = false }: StartParams,
    call: Call,
  ): Promise<StartAnswer | undefined> {
    const { queue, editBook } = this.#deps;
    await queue.share(() => undefined);
    const record = requestId === undefined ? undefined : editBook.byRequest(requestId);
    if (record === undefined) return undefined;
    const { id } = record.facts;
    await this.#ending.get(id);
    if (record.end !== 'finalized' && this.#ties.get(id) === undefined) return undefined;
    if (!detached) this.#ties.takeOver(id, call.holder);
    return answerAgain(record);
  }

  finalize(given: string, word: LastWord): Promise<EditAnswer> {
    return this.#end(given, async (record, edit) => {
      if (edit !== undefined) return this.#ends.finalize(edit, word);
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
    this.#ties.close();
  }

  /** An edit that outlived its time or the daemon: what it changed stays, under its name. */
  leaveUnasked(id: EditId, reason: string): void {
    this.#endUnasked(id, (edit) => this.#ends.leave(edit, reason));
  }

  #requireRoom(owner: object | undefined): void {
    if (this.open + this.#underWay.size >= MOST_OPEN) {
      throw tooMany('edits can be open', 'open edits', MOST_OPEN);
    }
    if (owner === undefined) return;
    const own = this.#ties.countOf(owner);
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
    const { id, scope, detached, ttlMs } = edit.facts;
    const emptyBefore = new Set(scope === 'project' ? this.#deps.watcher.emptyFolders() : []);
    this.#ties.add(id, {
      mayRemove: (folder) =>
        scope === 'project' ? !emptyBefore.has(folder) : newFolders.includes(folder),
      holder: detached ? undefined : holder,
      ttlMs,
    });
  }

  #untie(id: EditId): void {
    this.#ties.remove(id);
    this.#releases.tell();
  }

  /** Nobody is left to say how it ended, and nobody has been told that anything was kept. */
  #abandoned(id: EditId, holder: object): void {
    this.#endUnasked(id, async (edit) => {
      // Its client may have come back by another connection.
      if (this.#ties.get(id)?.holder === holder) await this.#abort(edit, 'its client is gone');
    });
  }

  /** An end that nobody waits for, or its paths would be held for ever: tried until it is done. */
  #endUnasked(id: EditId, end: (edit: OpenEdit) => Promise<void>): void {
    const { claims, log } = this.#deps;
    if (this.#isClosing || claims.table.get(id) === undefined) return;
    this.#end(id, async (_, edit) => edit && end(edit)).catch((error: unknown) => {
      log.write('error', 'an edit could not be ended', { edit: id, error: String(error) });
      setTimeout(() => this.#endUnasked(id, end), RETRY_MS).unref();
    });
  }

  #abort(edit: OpenEdit, reason: string): Promise<AbortAnswer> {
    const mayRemove = this.#ties.get(edit.facts.id)?.mayRemove ?? never;
    return this.#aborts.abort(edit, reason, mayRemove);
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
      // Whatever failed after it was closed: its paths are free.
      if (claims.table.get(id) === undefined) this.#untie(id);
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
