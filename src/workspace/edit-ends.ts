import type { OpenEdit, Span } from '../core/edits.js';
import { toResults, type FileResult } from '../core/file-results.js';
import type { LedgerEntry, NewEvent } from '../core/ledger.js';
import type { Path } from '../core/model.js';
import { sameState } from '../core/watching.js';
import { linesFor, type Account, type Voice } from './account-lines.js';
import { stateOf, type KnownAt } from './claims.js';
import { fromLine, toEditedFile, type EditAnswer } from './edit-answer.js';
import type { EditEnd, EditRecord } from './edit-book.js';
import { steadily, voiceOf, type EditDeps } from './edit-deps.js';
import { publishUnknown } from './intake.js';
import { redactionWarnings } from './redaction.js';

export interface EditEndDeps extends EditDeps {
  /** Tells the journal what was edited. */
  readonly edited: (entries: readonly LedgerEntry[], accounts: readonly Account[]) => void;
}

/** What whoever ends an edit says of it. */
export interface LastWord {
  readonly rationale?: string | undefined;
  /** Where traces and reports of it are. */
  readonly artifacts?: string[] | undefined;
}

interface Ending extends LastWord {
  readonly end: EditEnd;
  /** Why nobody ended it. */
  readonly reason?: string;
}

interface Ended {
  readonly accounts: readonly Account[];
  readonly entries: readonly LedgerEntry[];
  readonly skipped: readonly { path: Path; reason: string }[];
}

/** What an edit did goes into the ledger, under its name. */
export class EditEnds {
  readonly #deps: EditEndDeps;

  constructor(deps: EditEndDeps) {
    this.#deps = deps;
  }

  async finalize(edit: OpenEdit, word: LastWord): Promise<EditAnswer> {
    const { accounts, entries, skipped } = await this.#close(edit, { end: 'finalized', ...word });
    const passed = await this.#passedOn(edit);
    const warnings = redactionWarnings(entries);
    return {
      edit_id: edit.facts.id,
      files: [...passed, ...accounts.map(toEditedFile)],
      events: [
        ...edit.passedOn.map(({ event }) => event),
        ...entries.filter(({ changes }) => changes.length > 0).map(({ id }) => id),
      ],
      skipped: [...skipped],
      ...(warnings.length === 0 ? {} : { warnings }),
    };
  }

  /** Nobody ended it: what it changed stays, under its name, and anybody can see that. */
  async leave(edit: OpenEdit, reason: string): Promise<void> {
    await this.#close(edit, { end: 'incomplete', reason });
    this.#deps.log.write('warn', 'an edit was left incomplete', { edit: edit.facts.id, reason });
  }

  /** Somebody says after all that an incomplete edit was meant as it is. */
  async confirm({ facts }: EditRecord, word: LastWord): Promise<void> {
    const voice = { ...spoken(voiceOf(this.#deps, facts), word), by: undefined };
    const edit = { id: facts.id, what: 'finalized' };
    const line = { ...voice, action_type: 'edit_finished', edit } as const;
    await this.#deps.queue.share(() => this.#deps.editBook.append([line]));
  }

  #close(edit: OpenEdit, ending: Ending): Promise<Ended> {
    return steadily(this.#deps, async () => {
      const { accounts: book, claims, editBook } = this.#deps;
      const { spans, skipped } = await this.#spans(edit);
      const results = toResults(spans);
      const changed = results.filter(isChanged).map(({ path, after }) => [path, after] as const);
      // Comparing takes no longer than the disk does to keep it.
      const [, accounts] = await Promise.all([book.keep(changed), book.describe(results)]);
      const diffs = new Map<string, string | undefined>(
        accounts.map(({ path, diff }) => [path, diff]),
      );
      const entries = await editBook.append(
        this.#lines(edit, { accounts, spans }, ending),
        (entry) => {
          const diff = diffs.get(entry.changes.at(-1)?.path ?? '');
          return diff === undefined ? {} : { diff };
        },
      );
      // What was noticed while it was open is still its own.
      this.#deps.watcher.publish();
      claims.table.close(edit);
      const should = [...this.#known(spans), ...this.#unknowable(skipped)];
      publishUnknown(this.#deps.events, claims.giveBack(edit, should));
      this.#deps.edited(entries, accounts);
      return { accounts, entries, skipped };
    });
  }

  /** Paths whose content cannot be known are left out: absence in our books is no deletion. */
  async #spans(edit: OpenEdit): Promise<{ spans: Span[]; skipped: Ended['skipped'] }> {
    const { watcher, files } = this.#deps;
    const spans: Span[] = [];
    const skipped: { path: Path; reason: string }[] = [];
    watcher.publish();
    for (const span of edit.spans((path) => stateOf(watcher.get(path)))) {
      const kind = span.after === null ? await files.kindAt(span.path) : 'nothing';
      if (kind !== 'file' && kind !== 'special') spans.push(span);
      else skipped.push({ path: span.path, reason: kind === 'file' ? 'not_readable' : 'special' });
    }
    return { spans, skipped };
  }

  #lines(
    edit: OpenEdit,
    { accounts, spans }: { readonly accounts: readonly Account[]; readonly spans: readonly Span[] },
    { end, reason, ...word }: Ending,
  ): NewEvent[] {
    const voice = spoken(voiceOf(this.#deps, edit.facts), word);
    const note = { id: edit.facts.id, what: end };
    const lines = linesFor(accounts, voice, note);
    const gaveBack = this.#gaveBack(spans);
    const whole = gaveBack.length === 0 ? note : { ...note, gaveBack };
    const [final] = lines.slice(-1);
    if (final !== undefined && end === 'finalized') {
      return [...lines.slice(0, -1), { ...final, edit: whole }];
    }
    const action = end === 'incomplete' ? 'edit_incomplete' : 'edit_finished';
    const files = accounts.map(({ path }) => path);
    const paths = accounts.filter(isChanged).map(({ path }) => path);
    const last = { ...voice, by: undefined, action_type: action, files, edit: whole } as const;
    return [...lines, reason === undefined ? last : { ...last, reason, paths }];
  }

  /** An edit that left a path as it was explains nothing about it. */
  #gaveBack(spans: readonly Span[]): KnownAt[] {
    const { claims } = this.#deps;
    return spans.flatMap(({ path, before, after }): KnownAt[] => {
      const isLeft = sameState(before, after) && claims.known.get(path) !== undefined;
      return isLeft ? [[path, after]] : [];
    });
  }

  /** What was just accounted for; an edit that left a path as it was explains nothing about it. */
  #known(spans: readonly Span[]): KnownAt[] {
    const { claims } = this.#deps;
    return spans.map(({ path, before, after }): KnownAt => {
      return [path, sameState(before, after) ? claims.shouldHold(path, after) : after];
    });
  }

  /** Of these what was known before still is. */
  #unknowable(skipped: Ended['skipped']): KnownAt[] {
    return skipped.map(({ path }): KnownAt => [path, this.#deps.claims.known.expected(path)]);
  }

  async #passedOn({ passedOn }: OpenEdit) {
    const entries = await Promise.all(
      passedOn.map(({ event }) => this.#deps.editBook.entry(Number(event.slice('evt-'.length)))),
    );
    return entries.flatMap((entry) => (entry === undefined ? [] : (fromLine(entry) ?? [])));
  }
}

function spoken(voice: Voice, { rationale, artifacts }: LastWord): Voice {
  return {
    ...voice,
    ...(rationale === undefined ? {} : { rationale }),
    ...(artifacts === undefined ? {} : { artifacts }),
  };
}

function isChanged({ change }: Pick<FileResult, 'change'> & { readonly path: Path }): boolean {
  return change !== 'unchanged';
}
