import type { OpenEdit, Span } from '../core/edits.js';
import type { Path } from '../core/model.js';
import { planRestore, type Step } from '../core/restore-plan.js';
import { sameState } from '../core/watching.js';
import { restoredLines } from './adoption.js';
import { stateOf, type KnownAt } from './claims.js';
import type { EditNote, EditRecord } from './edit-book.js';
import { steadily, voiceOf, type EditDeps } from './edit-deps.js';
import { toState } from './explained.js';
import { addTo, applyMove, nothingMoved, type Moved, type MoveDeps } from './tree-moves.js';

export interface AbortAnswer {
  edit_id: string;
  restored: string[];
  removed: string[];
  /** What was there instead, and can be got back by its hash. */
  saved: { path: string; hash: string }[];
  skipped: { path: string; reason: string }[];
}

/** Which folders may go when the last file in them does. */
export type MayRemove = (folder: Path) => boolean;

const MOST_ROUNDS = 5;

/** Puts files back to what they were before an edit, and throws nothing away on the way. */
export class EditAborts {
  readonly #deps: EditDeps & MoveDeps;

  constructor(deps: EditDeps & MoveDeps) {
    this.#deps = deps;
  }

  async abort(edit: OpenEdit, reason: string, mayRemove: MayRemove): Promise<AbortAnswer> {
    const { claims, editBook, watcher, log } = this.#deps;
    const saved: AbortAnswer['saved'] = [];
    return steadily(this.#deps, async () => {
      const paths = [...edit.before.keys()];
      // Our own writes count as explained; what was unknown before the edit is so again.
      const expected = new Map(paths.map((path) => [path, claims.known.doubt(path)?.expected]));
      const changed = () => edit.spans((path) => stateOf(watcher.get(path))).filter(isChanged);
      const moved = await this.#putBack(changed, saved, mayRemove);
      const voice = { ...voiceOf(this.#deps, edit.facts), by: undefined };
      const files = saved.map(({ path }) => path);
      const action_type = 'edit_aborted';
      const known = [...edit.before].map(([path, before]): KnownAt => {
        const doubtful = expected.get(path);
        return [path, doubtful === undefined ? before : doubtful];
      });
      const answer = toAnswer(edit.facts.id, moved, saved);
      const gaveBack = claims.unsettled(known);
      const end = { id: edit.facts.id, what: 'aborted' };
      const note = gaveBack.length === 0 ? end : { ...end, gaveBack };
      const told = { saved, reason, outcome: outcomeOf(answer) };
      await editBook.append([{ ...voice, action_type, files, ...told, known, edit: note }]);
      watcher.publish();
      claims.table.close(edit);
      for (const [path, state] of known) claims.explain(path, state);
      log.write('info', 'edit aborted', { edit: edit.facts.id, reason, files: files.length });
      return answer;
    });
  }

  /** Of an edit that was left incomplete: its changes are in the ledger, and so is their way back. */
  async revert(record: EditRecord, mayRemove: MayRemove): Promise<AbortAnswer> {
    const { accounts, claims, editBook } = this.#deps;
    const saved: AbortAnswer['saved'] = [];
    return steadily(this.#deps, async () => {
      const spans = await this.#recorded(record);
      const others = spans.filter((span) => !this.#isUntouched(span));
      const own = spans.filter((span) => this.#isUntouched(span));
      const now = () => own.filter((span) => this.#isUntouched(span));
      const moved = await this.#putBack(now, saved, mayRemove);
      const back = new Set<string>([...moved.restored, ...moved.deleted]);
      const undone = own
        .filter(({ path }) => back.has(path))
        .map(({ path, before, after }) => ({ path, before: after, after: before }));
      const { facts } = record;
      const voice = voiceOf(this.#deps, facts);
      const note = { id: facts.id, what: 'aborted' };
      const end = { ...voice, by: undefined, action_type: 'edit_aborted' as const, edit: note };
      const [first = 1] = record.lines;
      const lines = await restoredLines(accounts, undone, { voice, asOf: first - 1 });
      const skipped = others.map(({ path }) => ({ path, reason: 'changed_by_others' }));
      const answer = toAnswer(
        facts.id,
        { ...moved, skipped: [...moved.skipped, ...skipped] },
        saved,
      );
      const told = { saved, reason: 'asked', outcome: outcomeOf(answer) };
      await editBook.append([...lines, { ...end, files: [...back], ...told }]);
      for (const { path, after } of undone) claims.explain(path, after);
      return answer;
    });
  }

  /** Adds to `saved` what it replaces, before it does. */
  async #putBack(
    changed: () => Span[],
    saved: AbortAnswer['saved'],
    mayRemove: MayRemove,
  ): Promise<Moved> {
    const all = nothingMoved();
    for (let round = 1; ; round++) {
      const spans = changed();
      await this.#deps.accounts.keep(spans.map(({ path, after }) => [path, after] as const));
      for (const { path, after } of spans) {
        if (after !== null) saved.push({ path, hash: after.hash });
      }
      const differences = spans.map(({ path, before, after }) => {
        return { path, from: after, to: before };
      });
      const steps = planRestore({ differences }).steps.filter((step) => isWanted(step, mayRemove));
      const moved = await applyMove(this.#deps, { steps, spared: [] });
      addTo(all, moved);
      if (!moved.raced || round === MOST_ROUNDS) {
        return { ...all, skipped: moved.skipped };
      }
    }
  }

  /** What the ledger says the edit did: for each path the first state and the last. */
  async #recorded({ lines }: EditRecord): Promise<Span[]> {
    const spans = new Map<Path, Span>();
    for (const seq of lines) {
      const entry = await this.#deps.editBook.entry(seq);
      // What went on to another edit is not its own any more, as in one that is still open.
      if ((entry?.['edit'] as EditNote | undefined)?.what === 'passed_on') continue;
      for (const change of entry?.changes ?? []) {
        const path = change.path as Path;
        const after = toState(change.after, change.mode_after);
        const before = toState(change.before, change.mode_before);
        const first = spans.get(path);
        spans.set(path, { path, before: first === undefined ? before : first.before, after });
      }
    }
    return [...spans.values()].filter(isChanged);
  }

  #isUntouched({ path, after }: Span): boolean {
    const { claims, watcher } = this.#deps;
    return claims.table.claimant(path) === undefined && sameState(watcher.get(path), after);
  }
}

function isWanted(step: Step, mayRemove: MayRemove): boolean {
  return step.kind !== 'remove_folder' || mayRemove(step.path);
}

function isChanged({ before, after }: Span): boolean {
  return !sameState(before, after);
}

function outcomeOf({ restored, removed, skipped }: AbortAnswer) {
  return { restored, removed, skipped };
}

function toAnswer(id: string, moved: Moved, saved: AbortAnswer['saved']): AbortAnswer {
  const { restored, deleted, skipped } = moved;
  return { edit_id: id, restored, removed: deleted, saved, skipped };
}
