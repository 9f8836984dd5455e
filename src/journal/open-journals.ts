import { Damage } from './faults.js';
import { createFile, type FileIdentity, identify, journalPath, makePrivate } from './files.js';
import { Slot } from './slot.js';
import { whyUnsound } from './soundness.js';

/** People work in a few dialogs at a time; each open one costs three file handles. */
const MOST_OPEN = 8;
/** Nothing else is answered while a journal is read as a whole, 13 ms per MB on two busy cores. */
const MOST_CHECKED_BYTES = 32 * 1024 * 1024;

interface Held {
  readonly slot: Slot;
  readonly key: string;
  /** When it was last seen; SQLite itself never makes the file smaller. */
  bytes: number;
}

/** The journals that are open now, the least recently used first. */
export class OpenJournals {
  readonly #stateDir: string;
  readonly #held = new Map<string, Held>();
  readonly #idle: Slot[] = [];
  /** Read as a whole since this process started. */
  readonly #checked = new Set<string>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /**
   * The dialog's journal; undefined when it has none.
   *
   * @throws Damage when the file is not what was written.
   */
  open(dialog: string): Slot | undefined {
    const path = journalPath(this.#stateDir, dialog);
    const found = identify(path);
    const held = this.#held.get(dialog);
    if (held !== undefined && found?.key === held.key && found.bytes >= held.bytes) {
      held.bytes = found.bytes;
      this.#held.delete(dialog);
      this.#held.set(dialog, held);
      return held.slot;
    }
    // Deleted, cut or replaced under us: what we hold is nobody's file any more.
    this.release(dialog);
    if (found === undefined) return undefined;
    return this.#attach(dialog, found);
  }

  /** A journal without entries, in the place of none. */
  create(dialog: string): Slot {
    const path = journalPath(this.#stateDir, dialog);
    createFile(path);
    const slot = this.#free();
    try {
      slot.attach(path);
      slot.create();
    } catch (error) {
      this.#giveBack(slot);
      throw error;
    }
    this.#checked.add(dialog);
    return this.#hold(dialog, slot);
  }

  /** Closes the file; the next `open` reads all of it again unless it is `sound`. */
  release(dialog: string, sound = false): void {
    if (!sound) this.#checked.delete(dialog);
    const held = this.#held.get(dialog);
    if (held === undefined) return;
    this.#held.delete(dialog);
    this.#giveBack(held.slot);
  }

  close(): void {
    for (const dialog of [...this.#held.keys()]) this.release(dialog);
    for (const slot of this.#idle.splice(0)) slot.close();
  }

  #attach(dialog: string, found: FileIdentity): Slot {
    if (!found.plain) throw new Damage('it is not a plain file');
    const path = journalPath(this.#stateDir, dialog);
    makePrivate(path);
    const whole = !this.#checked.has(dialog) && found.bytes <= MOST_CHECKED_BYTES;
    const slot = this.#free();
    try {
      slot.attach(path);
      const why = whyUnsound(slot, whole);
      if (why !== undefined) throw new Damage(why);
    } catch (error) {
      this.#giveBack(slot);
      throw error;
    }
    this.#checked.add(dialog);
    return this.#hold(dialog, slot);
  }

  #hold(dialog: string, slot: Slot): Slot {
    const { key = '', bytes = 1 } = identify(journalPath(this.#stateDir, dialog)) ?? {};
    this.#held.set(dialog, { slot, key, bytes: Math.max(bytes, 1) });
    return slot;
  }

  #free(): Slot {
    const [oldest] = this.#held.keys();
    if (this.#held.size >= MOST_OPEN && oldest !== undefined) this.release(oldest, true);
    return this.#idle.pop() ?? new Slot();
  }

  #giveBack(slot: Slot): void {
    if (slot.detach()) this.#idle.push(slot);
  }
}
