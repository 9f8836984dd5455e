import { closeSync, fstatSync, open, rmSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from './files.js';

/** An empty file to be filled and renamed. Whoever has it closes it. */
export interface SpareFile {
  readonly path: string;
  readonly file: number;
}

export interface SpareFiles {
  /** Removes what a killed one left. */
  open(): Promise<void>;
  /** One that was made before, if there is any: without waiting. Else a new one. */
  take(): SpareFile | Promise<SpareFile>;
  /** Takes them off the disk. */
  close(): Promise<void>;
}

/** Two checkpoints: a pack, its index and the lock of a branch each. */
const READY = 6;
/** Not at once: whoever took one is about to flush, and would wait for the making. */
const REFILL_MS = 25;
const openFile = promisify(open);

/** Making a file takes an aged disk up to a millisecond, so that is done while nobody waits. */
export function createSpareFiles(folder: string): SpareFiles {
  const ready: SpareFile[] = [];
  let made = 0;
  let isOpen = false;
  let timer: NodeJS.Timeout | undefined;
  let filling = Promise.resolve();

  async function make(): Promise<SpareFile> {
    const path = join(folder, String(++made));
    const file = await openFile(path, 'wx', 0o600).catch(async (error: unknown) => {
      if (codeOf(error) !== 'ENOENT') throw error;
      // Somebody tidied up. A store that was taken away as a whole does not come back by this.
      await mkdir(folder, { mode: 0o700 }).catch((failure: unknown) => {
        if (codeOf(failure) !== 'EEXIST') throw failure;
      });
      return openFile(path, 'wx', 0o600);
    });
    return { path, file };
  }

  async function clear(): Promise<void> {
    for (const name of await readdir(folder)) rmSync(join(folder, name), { force: true });
  }

  function refillSoon(): void {
    if (!isOpen || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      filling = refill();
    }, REFILL_MS);
    timer.unref();
  }

  async function refill(): Promise<void> {
    try {
      while (isOpen && ready.length < READY) ready.push(await make());
    } catch {
      // Whoever needs one next makes it, and says what is wrong.
    }
  }

  return {
    async open() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await clear();
      made = 0;
      isOpen = true;
      refillSoon();
    },
    take() {
      refillSoon();
      for (let spare = ready.pop(); spare !== undefined; spare = ready.pop()) {
        // Somebody may have tidied up.
        if (fstatSync(spare.file).nlink > 0) return spare;
        closeSync(spare.file);
      }
      return make();
    },
    async close() {
      isOpen = false;
      clearTimeout(timer);
      timer = undefined;
      await filling;
      for (const { file } of ready.splice(0)) closeSync(file);
      // Also what could not be removed when it was used. A folder that has gone has nothing left.
      await clear().catch(() => undefined);
    },
  };
}
