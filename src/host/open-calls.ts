import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSmallFile, replaceFile } from './small-files.js';

/** A day: by then the daemon has closed every edit. */
const OLDEST_MS = 86_400_000;

/**
 * Which edit belongs to which tool call of an agent: the hook before it and the one after are two
 * processes. One small file each, gone with the end of the call or of the session.
 */
export class OpenCalls {
  readonly #folder: string;
  readonly #session: string;

  constructor(runFolder: string, session: string) {
    this.#folder = join(runFolder, 'calls');
    this.#session = short(session);
  }

  remember(call: string, editId: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    replaceFile(this.#path(call), editId);
  }

  /** True for the first who asks in a turn, which ends with `takeAll`. */
  beginTurn(): boolean {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    try {
      writeFileSync(this.#turn, '', { flag: 'wx' });
      return true;
    } catch {
      return false;
    }
  }

  /** The edit of the call, forgotten from here on. */
  take(call: string): string | undefined {
    return this.#takeFile(this.#path(call));
  }

  /** True when the edit is of this session; forgotten from here on. */
  takeEdit(editId: string): boolean {
    const own = this.#names().filter((name) => name.startsWith(`${this.#session}-`));
    const paths = own.map((name) => join(this.#folder, name));
    const found = paths.find((path) => readSmallFile(path) === editId);
    return found !== undefined && this.#takeFile(found) !== undefined;
  }

  /** All that the session has left open, forgotten from here on; and those of nobody, long ago. */
  takeAll(now: number): string[] {
    rmSync(this.#turn, { force: true });
    return this.#names().flatMap((name) => {
      const path = join(this.#folder, name);
      if (name.startsWith(`${this.#session}-`)) return this.#takeFile(path) ?? [];
      const age = now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now);
      if (age > OLDEST_MS) rmSync(path, { force: true });
      return [];
    });
  }

  #takeFile(path: string): string | undefined {
    const id = readSmallFile(path);
    rmSync(path, { force: true });
    return id;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).filter((name) => !name.startsWith('.'));
    } catch {
      return [];
    }
  }

  get #turn(): string {
    return join(this.#folder, `${this.#session}.turn`);
  }

  #path(call: string): string {
    return join(this.#folder, `${this.#session}-${short(call)}`);
  }
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
