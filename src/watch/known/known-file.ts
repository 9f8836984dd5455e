import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from '../../core/ports.js';
import { codeOf } from '../content/content.js';
import { KnownDecoder, KnownEncoder } from './known-format.js';
import type { KnownTree } from './tree.js';

interface Binding {
  readonly device: number;
  readonly inode: number;
  readonly fingerprint: string;
  readonly maxFileBytes: number;
}

interface Deps {
  readonly path: string;
  readonly tree: KnownTree;
  readonly log: Log;
  readonly saveMs: number;
  readonly binding: () => Binding;
}

export interface Loaded {
  /** Something was known before this start. */
  readonly isKnown: boolean;
  /** It was known under other rules: decide everything anew. */
  readonly isStale: boolean;
}

const SLICE_MS = 8;

/** Undefined when it is what was written, or is not there. */
export function whyKnownDamaged(path: string): string | undefined {
  try {
    new KnownDecoder(readFileSync(path));
    return undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

/** What is known, on disk: so that a restart need not read the project again. */
export class KnownFile {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Fills the tree. A file that is missing, damaged or of another root leaves it empty. */
  async load(): Promise<Loaded> {
    const nothing = { isKnown: false, isStale: false };
    try {
      const decoder = new KnownDecoder(readFileSync(this.#deps.path));
      const now = this.#deps.binding();
      const then = decoder.binding as Partial<Binding>;
      if (then.device !== now.device || then.inode !== now.inode) {
        throw new Error('it belongs to another root');
      }
      await inSlices(decoder.readInto(this.#deps.tree));
      const isStale =
        then.fingerprint !== now.fingerprint || then.maxFileBytes !== now.maxFileBytes;
      return { isKnown: true, isStale };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return nothing;
      this.#deps.log.write('warn', 'The saved known state cannot be used; reading everything.', {
        path: this.#deps.path,
        error: String(error),
      });
      return nothing;
    }
  }

  /** Something changed: save before long. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.save();
    }, this.#deps.saveMs).unref();
  }

  /** A failure costs the next start some time and nothing else, so it is only logged. */
  save(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      try {
        await this.#write();
      } catch (error) {
        this.#deps.log.write('warn', 'The known state could not be saved.', {
          path: this.#deps.path,
          error: String(error),
        });
      }
    });
    return this.#saving;
  }

  async close(isKept: boolean): Promise<void> {
    clearTimeout(this.#timer);
    if (isKept) await this.save();
  }

  async #write(): Promise<void> {
    const bytes = await this.#encode();
    const draft = `${this.#deps.path}.tmp`;
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#deps.path);
    const folder = await open(dirname(this.#deps.path));
    await folder.sync().finally(() => folder.close());
  }

  async #encode(): Promise<Buffer> {
    const encoder = new KnownEncoder(this.#deps.binding());
    const { folders, nestedRoots } = this.#deps.tree;
    const withNested = new Set([...nestedRoots].map(parentOf));
    await inSlices(
      (function* () {
        for (const folder of folders.values()) {
          yield* encoder.add(folder, withNested.has(folder.path));
          yield;
        }
      })(),
    );
    return encoder.finish();
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Runs to the end, and lets others have a turn in between. */
async function inSlices(steps: Iterator<void>): Promise<void> {
  let until = performance.now() + SLICE_MS;
  while (steps.next().done !== true) {
    if (performance.now() < until) continue;
    await new Promise(setImmediate);
    until = performance.now() + SLICE_MS;
  }
}
