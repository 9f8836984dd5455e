import {
  formatChangeCursor,
  parseChangeCursor,
  type ChangeCursor,
} from '../core/changes/change-cursor.js';
import type { Log, SmallFile } from '../core/ports.js';
import type { Redaction } from './redaction.js';

/** Who asks: a name that lasts, or a connection that does not. */
export type Client = string | object;

/** The ones who asked last; who comes back after so many others begins anew. */
const MOST_NAMED = 200;

interface CursorDeps {
  readonly cursorFile: SmallFile;
  readonly log: Log;
  readonly redaction: Pick<Redaction, 'clean'>;
}

/** Where each client looked last. Names are remembered over a restart, connections are not. */
export class ClientCursors {
  readonly #named = new Map<string, ChangeCursor>();
  readonly #connections = new WeakMap<object, ChangeCursor>();
  readonly #file: SmallFile;
  readonly #log: Log;
  #isSaved = true;

  readonly #redaction: Pick<Redaction, 'clean'>;

  constructor({ cursorFile, log, redaction }: CursorDeps) {
    this.#redaction = redaction;
    this.#file = cursorFile;
    this.#log = log;
    for (const [name, text] of Object.entries(readRecord(cursorFile))) {
      const cursor = parseChangeCursor(text);
      if (cursor !== undefined) this.#named.set(name, cursor);
    }
  }

  get(client: Client): ChangeCursor | undefined {
    return typeof client === 'string' ? this.#named.get(client) : this.#connections.get(client);
  }

  set(client: Client, cursor: ChangeCursor): void {
    if (typeof client !== 'string') {
      this.#connections.set(client, cursor);
      return;
    }
    this.#named.delete(client);
    this.#named.set(client, cursor);
    this.#isSaved = false;
    const [oldest] = this.#named.keys();
    if (this.#named.size > MOST_NAMED && oldest !== undefined) this.#named.delete(oldest);
  }

  /** For the next daemon. After a crash they are as of the last orderly end, so nobody misses anything. */
  save(): void {
    if (this.#isSaved) return;
    // Who goes by a secret begins anew: under another name nobody would find it.
    const kept = [...this.#named].filter(([name]) => this.#redaction.clean(name).text === name);
    const all = kept.map(([name, cursor]) => [name, formatChangeCursor(cursor)]);
    try {
      this.#file.write(Object.fromEntries(all));
      this.#isSaved = true;
    } catch (error) {
      this.#log.write('warn', 'cursors of clients could not be kept', { error: String(error) });
    }
  }
}

function readRecord(file: SmallFile): Record<string, string> {
  const content = file.read();
  if (typeof content !== 'object' || content === null) return {};
  return Object.fromEntries(
    Object.entries(content).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}
