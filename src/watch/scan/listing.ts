import { type Dir, type Dirent, opendirSync, readdirSync } from 'node:fs';
import { codeOf, isExhaustion } from '../content/content.js';

export interface Listing {
  readonly entries: readonly Dirent[];
  /** Escaped names that are no UTF-8; the string API could not even stat them. */
  readonly oddNames: readonly string[];
}

export type Unlisted = 'gone' | 'unreadable' | 'unreachable' | 'exhausted';

const DAMAGED = '\uFFFD';
// Entries per system call; about half a millisecond.
const BATCH = 512;

/**
 * A folder's entries, or why they cannot be had. A large folder is read in parts, so that others
 * get their turns in between; a small one at once, which costs half as much.
 */
export class Lister {
  readonly #path: string;
  readonly #isLarge: boolean;
  readonly #entries: Dirent[] = [];
  /** Names as bytes; read only when one of the entries came out damaged. */
  readonly #bytes: Buffer[] = [];
  #dir: Dir | undefined;
  #isSecond = false;

  constructor(path: string, isLarge: boolean) {
    this.#path = path;
    this.#isLarge = isLarge;
  }

  /** Goes on until `due`; undefined: there is more. */
  advance(due: () => boolean): Listing | Unlisted | undefined {
    try {
      return this.#isLarge ? this.#inParts(due) : this.#atOnce();
    } catch (error) {
      this.close();
      const code = codeOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return 'gone';
      if (isExhaustion(code)) return 'exhausted';
      return code === 'ENAMETOOLONG' ? 'unreachable' : 'unreadable';
    }
  }

  close(): void {
    this.#dir?.closeSync();
    this.#dir = undefined;
  }

  #atOnce(): Listing {
    const entries = readdirSync(this.#path, { withFileTypes: true });
    if (!entries.some(isDamaged)) return { entries, oddNames: [] };
    return separate(entries, readdirSync(this.#path, { encoding: 'buffer' }));
  }

  #inParts(due: () => boolean): Listing | undefined {
    if (!this.#isSecond) {
      if (!this.#read(due)) return undefined;
      if (!this.#entries.some(isDamaged)) return { entries: this.#entries, oddNames: [] };
      this.#isSecond = true;
    }
    return this.#read(due) ? separate(this.#entries, this.#bytes) : undefined;
  }

  /** True at the end of the folder. */
  #read(due: () => boolean): boolean {
    this.#dir ??= opendirSync(this.#path, {
      bufferSize: BATCH,
      // Node takes `buffer` too; its types do not know.
      encoding: (this.#isSecond ? 'buffer' : 'utf8') as BufferEncoding,
    });
    for (let count = 1; ; count += 1) {
      const entry = this.#dir.readSync();
      if (entry === null) break;
      if (this.#isSecond) this.#bytes.push(entry.name as unknown as Buffer);
      else this.#entries.push(entry);
      if (count % BATCH === 0 && due()) return false;
    }
    this.close();
    return true;
  }
}

function isDamaged({ name }: Dirent): boolean {
  return name.includes(DAMAGED);
}

function separate(entries: readonly Dirent[], names: readonly Buffer[]): Listing {
  const odd = new Set<string>();
  const real = new Set<string>();
  for (const bytes of names) {
    const name = bytes.toString('utf8');
    if (!name.includes(DAMAGED)) continue;
    // The replacement character itself is a legal name; only unequal bytes are not UTF-8.
    if (Buffer.from(name, 'utf8').equals(bytes)) real.add(name);
    else odd.add(escapeBytes(bytes));
  }
  return {
    entries: entries.filter((entry) => !isDamaged(entry) || real.has(entry.name)),
    oddNames: [...odd],
  };
}

function escapeBytes(bytes: Buffer): string {
  let text = '';
  for (const byte of bytes) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += plain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
