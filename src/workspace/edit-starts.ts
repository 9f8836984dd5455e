import { counted } from '../core/counted.js';
import { OpenEdit, type EditFacts, type Span } from '../core/edits.js';
import { SmithyError } from '../core/errors.js';
import { toResults } from '../core/file-results.js';
import { toSpan, type Unexplained } from '../core/known-state.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import { foldersAbove } from '../core/restore-plan.js';
import type { FileState } from '../core/watching.js';
import { linesFor, summaryLines, type Account } from './account-lines.js';
import { unknownVoice } from './adoption.js';
import { stateOf, type KnownAt } from './claims.js';
import type { EditNote } from './edit-book.js';
import { isTooLarge, steadily, voiceOf, type EditDeps } from './edit-deps.js';
import { ofAnotherProject, requireFile, staleFiles, staleRead } from './edit-refusals.js';
import { publishUnknown } from './intake.js';
import type { Pending } from './pending.js';
import { redactionWarnings } from './redaction.js';
import { toResult, type UnknownChangeResult } from './unknown-result.js';

export type Strategy = 'reject' | 'warn' | 'integrate';

export interface StartRequest {
  readonly facts: EditFacts;
  readonly paths: readonly Path[];
  readonly strategy: Strategy;
  readonly expect: ReadonlyMap<Path, string | null>;
}

export interface Started {
  readonly edit: OpenEdit;
  readonly newFolders: readonly Path[];
  readonly unknown: UnknownChangeResult;
  readonly warnings: readonly string[];
}

export interface EditStartDeps extends EditDeps {
  /** Tells the journal what was edited. */
  readonly edited: (entries: readonly LedgerEntry[], accounts: readonly Account[]) => void;
  /** What is on disk and in no checkpoint: a project edit may change any of it. */
  readonly unsaved: (dialog: EditFacts['dialog']) => Promise<ReturnType<Pending['changes']>>;
  /** Tracks the paths from now on, whatever the rules say. */
  readonly track: (paths: readonly Path[]) => Promise<void>;
}

/** Opens edits: everything is checked first, then saved, then written down, then answered. */
export class EditStarts {
  readonly #deps: EditStartDeps;

  constructor(deps: EditStartDeps) {
    this.#deps = deps;
  }

  /** Undefined: somebody else holds one of the paths. */
  async start(request: StartRequest): Promise<Started | undefined> {
    const { files } = this.#deps;
    for (const path of request.paths) requireFile(path, await files.kindAt(path));
    return steadily(this.#deps, () => this.#open(request));
  }

  async #open(request: StartRequest): Promise<Started | undefined> {
    const { claims, contents, text } = this.#deps;
    const { facts, paths, strategy } = request;
    // Whoever holds a path may be writing it this moment: looking at it would tell nothing.
    if (claims.table.holder(paths) !== undefined) return undefined;
    const newFolders = await this.#missingFolders(paths);
    const untracked = await this.#untracked(paths);

    // From here to `open` nothing waits: what is noticed later belongs to the edit.
    this.#deps.watcher.publish();
    if (claims.table.holder(paths) !== undefined) return undefined;
    const now = (path: Path): FileState | null => {
      const state = untracked.get(path);
      return state === undefined ? stateOf(this.#deps.watcher.get(path)) : state;
    };
    const stale = staleFiles(request.expect, now);
    if (stale.length > 0) throw await staleRead(this.#deps, stale);
    const found = claims.unknown(facts.scope === 'project' ? undefined : paths);
    if (found.length > 0 && strategy === 'reject') {
      throw unknownChanges(await toResult(found, contents, text));
    }
    const edit = new OpenEdit(facts, new Map(paths.map((path) => [path, now(path)])));
    const others = claims.table.list().filter((one) => one.facts.scope === 'project').length;
    const around = facts.scope === 'project' ? this.#around() : {};
    const passed = claims.table.open(edit);
    try {
      await this.#save(edit);
      const letIn = [...untracked.keys()];
      if (letIn.length > 0) await this.#deps.track(letIn);
      const opening = { edit, around, passed, newFolders, letIn, found };
      const { unknown, entries } = await this.#record(request, opening);
      const warnings = [...this.#warnings(request, found, others), ...redactionWarnings(entries)];
      return { edit, newFolders, unknown, warnings };
    } catch (error) {
      // What was noticed since it was opened had counted as its own.
      this.#deps.watcher.publish();
      claims.table.undoOpen(edit, passed);
      publishUnknown(this.#deps.events, claims.giveBack(edit, []));
      throw error;
    }
  }

  /** What tells after a crash whose a change is: only what the newest project edit changes is new. */
  #around(): Around {
    const { claims } = this.#deps;
    const begun = claims.unexplained().map(({ path, actual }): KnownAt => [path, actual]);
    const touched = claims.table
      .list()
      .filter(({ facts, before }) => facts.scope === 'project' && before.size > 0)
      .map(({ facts, before }) => [facts.id, [...before]] as const);
    return {
      ...(begun.length === 0 ? {} : { begun }),
      ...(touched.length === 0 ? {} : { touched }),
    };
  }

  /** What must be there to go back to. A project edit may change anything not yet in the store. */
  async #save({ facts, before }: OpenEdit): Promise<void> {
    await this.#deps.accounts.keep(before);
    if (facts.scope !== 'project') return;
    const unsaved = await this.#deps.unsaved(facts.dialog);
    await this.#deps.accounts.keep(
      unsaved.map(({ path, after }) => [path, stateOf(after ?? undefined)] as const),
    );
  }

  async #record(
    request: StartRequest,
    { edit, around, passed, newFolders, letIn, found }: Opening,
  ): Promise<{ unknown: UnknownChangeResult; entries: readonly LedgerEntry[] }> {
    const { accounts, claims, editBook } = this.#deps;
    const { facts, strategy } = request;
    const unknown = await toResult(found, this.#deps.contents, this.#deps.text);
    const handed: Handed[] = [];
    for (const { from, span } of passed) {
      const described = await accounts.describe(toResults([span]));
      const note = { id: from.facts.id, what: 'passed_on' };
      const lines = linesFor(described, voiceOf(this.#deps, from.facts), note);
      handed.push({ from, span, described, lines });
    }
    const noted = found.length === 0 ? [] : await this.#noted(request, found);
    const note: EditNote = {
      what: 'started',
      id: facts.id,
      facts,
      before: [...edit.before],
      newFolders,
      ...(letIn.length === 0 ? {} : { letIn }),
      ...around,
    };
    const line = {
      ...voiceOf(this.#deps, facts),
      by: undefined,
      action_type: 'edit_started' as const,
    };
    const start = { ...line, files: [...edit.before.keys()], edit: note };
    const entries = await editBook.append([
      ...handed.flatMap(({ lines }) => lines),
      ...noted,
      start,
    ]);
    let at = 0;
    for (const { from, span, described, lines } of handed) {
      const entry = lines.length === 0 ? undefined : entries[at++];
      // Nothing came of it: what was unknown before still is.
      if (entry === undefined) continue;
      from.passedOn.push({ span, event: entry.id });
      this.#deps.edited([entry], described);
      claims.explain(span.path, span.after);
    }
    if (strategy === 'integrate') {
      for (const { path, actual } of found) claims.explain(path, actual);
    }
    return { unknown, entries };
  }

  /** What was found unannounced: taken in as somebody's work, or at least written down. */
  async #noted({ facts, strategy }: StartRequest, found: readonly Unexplained[]) {
    const { accounts } = this.#deps;
    const { dialog_id, session } = voiceOf(this.#deps, facts);
    const voice = unknownVoice({ dialog_id, session }, this.#deps.clock);
    if (strategy === 'integrate') {
      await accounts.keep(found.map(({ path, actual }) => [path, actual] as const));
      return accounts.tell(toResults(found.map(toSpan)), voice);
    }
    const rationale = `Unknown changes found when an edit began: ${counted(found.length, 'file')}.`;
    // Not taken in, but the lines are somebody's all the same.
    return summaryLines(toResults(found.map(toSpan)), voice).map((line) => {
      return { ...line, action_type: 'meta_note' as const, rationale, noted: true };
    });
  }

  #warnings({ facts, strategy }: StartRequest, found: readonly Unexplained[], others: number) {
    const warnings: string[] = [];
    if (found.length > 0) {
      const what = strategy === 'integrate' ? 'were taken in as unknown' : 'were not announced';
      const names = found.slice(0, 3).map(({ path }) => path);
      const files = counted(found.length, 'file');
      warnings.push(`Changes of ${files} ${what}: ${names.join(', ')}.`);
    }
    if (facts.scope === 'project' && others > 0) {
      warnings.push('Another project edit is open: what changes from now on counts as this one.');
    }
    return warnings;
  }

  /** Files the rules leave out, with what they hold now. */
  async #untracked(paths: readonly Path[]): Promise<Map<Path, FileState | null>> {
    const { watcher, files } = this.#deps;
    const states = new Map<Path, FileState | null>();
    for (const path of paths) {
      if (watcher.get(path) !== undefined) continue;
      const { decision, at } = await watcher.explain(path);
      // An announcement here would not make it ours.
      if (decision.reason === 'nested_root') throw ofAnotherProject(path, at);
      if (decision.tracked) {
        const kind = await files.kindAt(path);
        if (kind === 'nothing') continue;
        // Not read first: what is too large to be known would take minutes.
        if (kind === 'file') throw this.#notKnown(path);
      }
      if (await isTooLarge(this.#deps, path)) throw notKept(path);
      const file = await files.readFile(path);
      if (decision.tracked) throw this.#notKnown(path);
      states.set(path, file === null ? null : { hash: file.hash, mode: file.mode });
    }
    return states;
  }

  #notKnown(path: Path): SmithyError {
    const { watcher } = this.#deps;
    const isSkipped = watcher.skipped(Infinity).some((one) => one.path === path);
    if (isSkipped) return notKept(path);
    return new SmithyError('STALE_READ', `${path} appeared just now.`, { data: { path } });
  }

  async #missingFolders(paths: readonly Path[]): Promise<Path[]> {
    const missing = new Set<Path>();
    for (const path of paths) {
      if (this.#deps.watcher.get(path) !== undefined) continue;
      for (const folder of foldersAbove(path)) {
        if (missing.has(folder) || (await this.#deps.files.kindAt(folder)) !== 'nothing') break;
        missing.add(folder);
      }
    }
    return [...missing];
  }
}

type Around = Pick<EditNote & { readonly what: 'started' }, 'begun' | 'touched'>;

/** A path that passed to another edit, and the line that says so. */
interface Handed {
  readonly from: OpenEdit;
  readonly span: Span;
  readonly described: readonly Account[];
  readonly lines: readonly NewEvent[];
}

interface Opening {
  readonly edit: OpenEdit;
  readonly around: Around;
  readonly passed: readonly { readonly from: OpenEdit; readonly span: Span }[];
  readonly newFolders: readonly Path[];
  readonly letIn: readonly Path[];
  readonly found: readonly Unexplained[];
}

function unknownChanges(result: UnknownChangeResult): SmithyError {
  const { affectedFiles } = result;
  const message = `${counted(affectedFiles.length, 'file')} ${affectedFiles.length === 1 ? 'was' : 'were'} changed without an announcement: ${affectedFiles.slice(0, 3).join(', ')}.`;
  return new SmithyError('UNKNOWN_CHANGES', message, {
    hint: 'Look at them, then `smithyd unknown --integrate` or `--reject`, and start again.',
    data: { ...result },
  });
}

/** There, tracked, and without known content: too large, unreadable. */
function notKept(path: Path): SmithyError {
  return new SmithyError(
    'LIMIT_EXCEEDED',
    `${path} cannot be saved, so its edit could not be undone.`,
    {
      hint: 'It is larger than maxFileBytes or cannot be read; see `smithyd files`.',
      data: { path, limit: 'maxFileBytes', setting: 'maxFileBytes' },
    },
  );
}
