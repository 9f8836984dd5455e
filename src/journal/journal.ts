import { SmithyError } from '../core/errors.js';
import type { Journal, JournalFacts, RebuildReason } from '../core/journal.js';
import type { Log } from '../core/ports.js';
import { readMessage, readMessages, readMeta, take, type Meta } from './content.js';
import { Damage, isDamage, rebuildDue, toSmithyError } from './faults.js';
import { journalPath, removeFile, setAside } from './files.js';
import { OpenJournals } from './open-journals.js';
import { Slot } from './slot.js';
import { whyUnsound } from './soundness.js';

export interface JournalDeps {
  readonly stateDir: string;
  readonly log: Log;
  /** Called once per due rebuild, as the last act of the call that found out. */
  needsRebuild?(dialog: string, why: RebuildReason): void;
  /** How long entries are gathered; 0 writes each by itself. */
  readonly gatherMs?: number;
}

/** Long enough for the entries of a busy moment to share one transaction. */
const GATHER_MS = 10;
/** More are written at once: they are held in memory. */
const MOST_WAITING = 256;

export function createJournal(deps: JournalDeps): Journal {
  const { stateDir, log, gatherMs = GATHER_MS } = deps;
  const journals = new OpenJournals(stateDir);
  const due = new Set<string>();
  /** Entries on their way: nobody who saved something waits for the database. */
  const waiting = new Map<string, JournalFacts[]>();
  let waitingCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function ask(dialog: string, why: RebuildReason, error?: unknown): void {
    if (due.has(dialog)) return;
    due.add(dialog);
    const cause = error instanceof Error ? { error: error.message } : {};
    const fields = { dialog_id: dialog, why, ...cause };
    log.write(
      why === 'missing' ? 'info' : 'warn',
      'The journal of a dialog is to be rebuilt',
      fields,
    );
    try {
      deps.needsRebuild?.(dialog, why);
    } catch (cause) {
      log.write('error', 'The rebuild of a journal was refused', {
        dialog_id: dialog,
        error: String(cause),
      });
    }
  }

  function fail(dialog: string, error: unknown): void {
    journals.release(dialog);
    if (!isDamage(error)) {
      ask(dialog, 'failed', error);
      return;
    }
    try {
      setAside(journalPath(stateDir, dialog));
    } catch (cause) {
      // It stays where it is: the rebuild replaces it.
      log.write('warn', 'A damaged journal could not be set aside', {
        dialog_id: dialog,
        error: String(cause),
      });
    }
    ask(dialog, 'damaged', error);
  }

  /** A look at the journal, undefined when there is none. Damage found on the way is dealt with. */
  function read<Answer>(dialog: string, look: (slot: Slot) => Answer): Answer | undefined {
    if (closed) throw new SmithyError('SHUTTING_DOWN', 'The daemon is stopping.');
    takeWaiting();
    if (due.has(dialog)) throw rebuildDue(dialog);
    try {
      const slot = journals.open(dialog);
      return slot === undefined ? undefined : look(slot);
    } catch (error) {
      if (!isDamage(error)) throw toSmithyError(error, dialog);
      fail(dialog, error);
      throw rebuildDue(dialog);
    }
  }

  /** All of them in one transaction, up to the first that does not follow. */
  function takeIn(dialog: string, entries: readonly JournalFacts[]): void {
    let slot = journals.open(dialog);
    if (slot === undefined && entries[0]?.after === 0) slot = journals.create(dialog);
    if (slot === undefined) {
      ask(dialog, 'missing');
      return;
    }
    const found = slot;
    let meta = countOf(found);
    const hole = entries.findIndex((facts, number) =>
      leavesHole(facts, Math.max(meta.lastSeq, entries[number - 1]?.seq ?? 0)),
    );
    const whole = hole === -1 ? entries : entries.slice(0, hole);
    found.transact(() => {
      for (const facts of whole) {
        if (facts.seq > meta.lastSeq) meta = take(found, meta, { dialog, facts });
      }
    });
    if (hole !== -1) ask(dialog, 'gap');
  }

  function takeWaiting(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waitingCount === 0) return;
    const taken = [...waiting];
    waiting.clear();
    waitingCount = 0;
    for (const [dialog, entries] of taken) {
      if (due.has(dialog)) continue;
      try {
        takeIn(dialog, entries);
      } catch (error) {
        fail(dialog, error);
      }
    }
  }

  function remake(dialog: string, entries: Iterable<JournalFacts>): void {
    journals.release(dialog);
    removeFile(journalPath(stateDir, dialog));
    const slot = journals.create(dialog);
    // One transaction: a crash on the way leaves a journal that says it has nothing.
    slot.transact(() => {
      let meta = countOf(slot);
      for (const facts of entries) {
        if (facts.seq > meta.lastSeq) meta = take(slot, meta, { dialog, facts });
      }
    });
    slot.flush();
    // How large it is from here on: what is shorter later was cut.
    journals.open(dialog);
  }

  return {
    project(dialog, facts) {
      if (closed || due.has(dialog)) return;
      const entries = waiting.get(dialog) ?? [];
      entries.push(facts);
      waiting.set(dialog, entries);
      waitingCount++;
      if (gatherMs === 0 || waitingCount >= MOST_WAITING) takeWaiting();
      else timer ??= setTimeout(takeWaiting, gatherMs).unref();
    },
    lastSeq(dialog) {
      takeWaiting();
      if (due.has(dialog)) return 0;
      try {
        return read(dialog, (slot) => countOf(slot).lastSeq) ?? 0;
      } catch (error) {
        if (due.has(dialog)) return 0;
        throw error;
      }
    },
    messages(dialog, page) {
      const found = read(dialog, (slot) => readMessages(slot, page));
      if (found !== undefined) return found;
      ask(dialog, 'missing');
      throw rebuildDue(dialog);
    },
    findMessage(dialog, messageId) {
      const found = read(dialog, (slot) => ({ message: readMessage(slot, messageId) }));
      if (found !== undefined) return found.message;
      ask(dialog, 'missing');
      throw rebuildDue(dialog);
    },
    needsRebuild(dialog) {
      takeWaiting();
      return due.has(dialog);
    },
    rebuild(dialog, entries) {
      if (closed) throw new SmithyError('SHUTTING_DOWN', 'The daemon is stopping.');
      takeWaiting();
      try {
        remake(dialog, entries);
        due.delete(dialog);
      } catch (error) {
        // The caller hears of it by the throw, so this is no second report.
        due.add(dialog);
        journals.release(dialog);
        throw toSmithyError(error, dialog);
      }
    },
    whyDifferent(dialog, entries) {
      takeWaiting();
      if (due.has(dialog)) return 'it is to be made again';
      // What is on the disk, and not what SQLite has in memory.
      journals.release(dialog);
      try {
        const found = read(dialog, (slot) => whyUnsound(slot, true) ?? countOf(slot));
        if (found === undefined) return 'there is none';
        if (typeof found === 'string') return found;
        const { lastSeq, digest } = expected(dialog, entries);
        return found.lastSeq === lastSeq && found.digest === digest
          ? undefined
          : 'it does not hold what the ledger says';
      } catch (error) {
        return messageOf(error);
      }
    },
    forget(dialog) {
      takeWaiting();
      journals.release(dialog);
      due.delete(dialog);
    },
    close() {
      takeWaiting();
      closed = true;
      journals.close();
    },
  };
}

/** What a journal of these entries would say of itself, made in memory. */
function expected(dialog: string, entries: Iterable<JournalFacts>): Meta {
  const slot = new Slot();
  try {
    slot.attach(':memory:');
    slot.create();
    let meta = countOf(slot);
    slot.transact(() => {
      for (const facts of entries) meta = take(slot, meta, { dialog, facts });
    });
    return meta;
  } finally {
    if (slot.detach()) slot.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function countOf(slot: Slot) {
  const meta = readMeta(slot);
  if (meta === undefined) throw new Damage('the count of entries is gone');
  return meta;
}

/** Without a word about the entry before, only an empty journal is known to lack something. */
function leavesHole(facts: JournalFacts, lastSeq: number): boolean {
  return facts.after === undefined ? lastSeq === 0 : facts.after > lastSeq;
}
