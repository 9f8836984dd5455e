import type { OpenEdit, Span } from '../core/edits.js';
import type { Path } from '../core/model.js';
import { planRestore, type Step } from '../core/restore-plan.js';
import { sameState, type FileState } from '../core/watching.js';
import { restoredLines } from './adoption.js';
import { stateOf } from './claims.js';
import type { EditNote, EditRecord } from './edit-book.js';
import { steadily, voiceOf, type EditDeps } from './edit-deps.js';
import { toState } from './explained.js';
import { publishUnknown } from './intake.js';
import { applyMove, type MoveDeps } from './tree-moves.js';

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

/** In all attempts together: one that was cut off has written all the same. */
interface Done {
  readonly restored: string[];
  readonly deleted: string[];
  readonly saved: AbortAnswer['saved'];
  /** Of the last attempt alone. */
  skipped: AbortAnswer['skipped'];
}

const MOST_ROUNDS = 5;

/** Puts files back to what they were before an edit, and throws nothing away on the way. */
export class EditAborts {
  readonly #deps: EditDeps & MoveDeps;

  constructor(deps: EditDeps & MoveDeps) {
    this.#deps = deps;
  }

  async abort(edit: OpenEdit, reason: string, mayRemove: MayRemove): Promise<AbortAnswer> {
    const { claims, editBook, watcher, log } = this.#deps;
    const done = nothingDone();
    // Our own writes count as explained; what was unknown before the edit is so again.
    const should = new Map<Path, FileState | null>();
    const learn = (): void => {
      for (const [path, before] of edit.before) {
        if (!should.has(path)) should.set(path, claims.shouldHold(path, before));
      }
    };
    return steadily(this.#deps, async () => {
      learn();
      const changed = () => edit.spans((path) => stateOf(watcher.get(path))).filter(isChanged);
      await this.#putBack(changed, done, mayRemove);
      const voice = { ...voiceOf(this.#deps, edit.facts), by: undefined };
      const files = done.saved.map(({ path }) => path);
      const action_type = 'edit_aborted';
      const answer = toAnswer(edit.facts.id, done);
      learn();
      const known = [...should].filter(([path]) => edit.before.has(path));
      const gaveBack = claims.unsettled(known);
      const end = { id: edit.facts.id, what: 'aborted' };
      const note = gaveBack.length === 0 ? end : { ...end, gaveBack };
      const told = { saved: done.saved, reason, outcome: outcomeOf(answer) };
      await editBook.append([{ ...voice, action_type, files, ...told, known, edit: note }]);
      watcher.publish();
      claims.table.close(edit);
      publishUnknown(this.#deps.events, claims.giveBack(edit, known));
      log.write('info', 'edit aborted', { edit: edit.facts.id, reason, files: files.length });
      return answer;
    });
  }

  /** Of an edit that was left incomplete: its changes are in the ledger, and so is their way back. */
  async revert(record: EditRecord, mayRemove: MayRemove): Promise<AbortAnswer> {
    const { accounts, claims, editBook } = this.#deps;
    const done = nothingDone();
    const spans = await this.#recorded(record);
    const turn = async (): Promise<AbortAnswer> => {
      await this.#putBack(() => spans.filter((one) => this.#isUntouched(one)), done, mayRemove);
      const back = new Set<string>([...done.restored, ...done.deleted]);
      const undone = spans
        .filter(({ path }) => back.has(path))
        .map(({ path, before, after }) => ({ path, before: after, after: before }));
      const { facts } = record;
      const voice = voiceOf(this.#deps, facts);
      const note = { id: facts.id, what: 'aborted' };
      const end = { ...voice, by: undefined, action_type: 'edit_aborted' as const, edit: note };
      const [first = 1] = record.lines;
      const lines = await restoredLines(accounts, undone, { voice, asOf: first - 1 });
      const others = spans
        .filter((one) => !back.has(one.path) && !this.#isUntouched(one))
        .map(({ path }) => ({ path, reason: 'changed_by_others' }));
      const answer = toAnswer(facts.id, { ...done, skipped: [...done.skipped, ...others] });
      const told = { saved: done.saved, reason: 'asked', outcome: outcomeOf(answer) };
      await editBook.append([...lines, { ...end, files: [...back], ...told }]);
      for (const { path, after } of undone) claims.explain(path, after);
      return answer;
    };
    return steadily(this.#deps, turn, 'run');
  }

  /** Adds to `done` what it does; what it replaces is saved first. */
  async #putBack(changed: () => Span[], done: Done, mayRemove: MayRemove): Promise<void> {
    for (let round = 1; ; round++) {
      const spans = changed();
      await this.#deps.accounts.keep(spans.map(({ path, after }) => [path, after] as const));
      for (const { path, after } of spans) {
        if (after !== null) done.saved.push({ path, hash: after.hash });
      }
      const differences = spans.map(({ path, before, after }) => {
        return { path, from: after, to: before };
      });
      const steps = planRestore({ differences }).steps.filter((step) => isWanted(step, mayRemove));
      const moved = await applyMove(this.#deps, { steps, spared: [] });
      for (const path of moved.restored) done.restored.push(path);
      for (const path of moved.deleted) done.deleted.push(path);
      done.skipped = moved.skipped;
      if (moved.raced.length === 0 || round === MOST_ROUNDS) return;
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

function nothingDone(): Done {
  return { restored: [], deleted: [], skipped: [], saved: [] };
}

function toAnswer(id: string, { restored, deleted, saved, skipped }: Done): AbortAnswer {
  return { edit_id: id, restored, removed: deleted, saved, skipped };
}
