import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readSmallFile, replaceFile } from './small-files.js';
import { prepareStateFolder, statePaths } from './state-folder.js';

/** What a file was and what it became; null: it was not there. */
export interface Changed {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly isProgram?: boolean | undefined;
}

interface Kept {
  readonly files: readonly Changed[];
  /** Folders that were made for them, outermost first. */
  readonly made: readonly string[];
}

/** `.agentsmithy/setup/NAME.json`: what has to be known to take a set-up back to the byte. */
export class SetupRecord {
  readonly #root: string;
  readonly #path: string;

  constructor(root: string, name: string) {
    this.#root = root;
    this.#path = join(statePaths(root).state, 'setup', `${name}.json`);
  }

  read(): Kept {
    const text = readSmallFile(this.#path);
    return text === undefined ? { files: [], made: [] } : (JSON.parse(text) as Kept);
  }

  /** Before anything is written: half a set-up can then be taken back like a whole one. */
  keep(files: readonly Changed[]): void {
    const known = this.read();
    const paths = new Set(files.map(({ path }) => path));
    const others = known.files.filter(({ path }) => !paths.has(path));
    const made = new Set([...known.made, ...files.flatMap(({ path }) => missingAbove(path))]);
    prepareStateFolder(this.#root);
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const record: Kept = { files: [...others, ...files], made: [...made] };
    replaceFile(this.#path, JSON.stringify(record));
  }

  /** The folders that were made for the files, as far as nothing else is in them. */
  forget(): void {
    for (const folder of this.read().made.toReversed()) {
      try {
        rmdirSync(folder);
      } catch {
        // Somebody has put something there, or taken it away.
      }
    }
    rmSync(this.#path, { force: true });
  }
}

export function textIfThere(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** With its mode, if it has one already. */
export function putText({ path, after, isProgram = false }: Changed): void {
  if (after === null) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const place = writtenAt(path);
  const mode = statSync(place, { throwIfNoEntry: false })?.mode ?? (isProgram ? 0o777 : 0o666);
  const fresh = `${place}.smithyd-new`;
  rmSync(fresh, { force: true });
  writeFileSync(fresh, after, { mode: mode & 0o777 });
  renameSync(fresh, place);
}

/** A link to a neighbour stays one; one that leads elsewhere, maybe out of the project, gives way. */
function writtenAt(path: string): string {
  const real = existsSync(path) ? realpathSync(path) : path;
  return dirname(real) === realpathSync(dirname(path)) ? real : path;
}

function missingAbove(path: string): string[] {
  const folder = dirname(path);
  return existsSync(folder) ? [] : [...missingAbove(folder), folder];
}
