import { createByteCache } from '../core/byte-cache.js';
import type { FileChange } from '../core/store.js';
import { objectId } from './blobs.js';
import { createBreath } from './breath.js';
import { noTree } from './failures.js';
import { requireTreePath } from './names.js';
import type { Reader } from './reader.js';
import {
  editTree,
  EMPTY_TREE,
  FOLDER,
  foldersIn,
  toByteName,
  type TreeEntry,
} from './tree-bytes.js';

/** What changes in one folder, by the bytes of names. */
interface Folder {
  readonly files: Map<string, TreeEntry | null>;
  readonly folders: Map<string, Folder>;
}

/** Takes each tree that is new. */
export type TakeTree = (id: string, bytes: Buffer) => Promise<void>;

export interface Trees {
  /** The tree that `base` becomes by the changes; `take` gets what that needs. */
  edit(base: string | undefined, changes: readonly FileChange[], take: TakeTree): Promise<string>;
}

const NONE = Buffer.alloc(0);
const NO_FOLDERS: ReadonlyMap<string, string> = new Map();
/** Of the trees last read and written: those of 100,000 files in 10,000 folders are 5 MB. */
const MOST_CACHED_BYTES = 8 * 1024 * 1024;

/**
 * Makes trees of changed paths. Costs what lies on the way to them: the folders above, which are in
 * memory from the last time, and not the rest of the project.
 */
export function createTrees(reader: Pick<Reader, 'read'>): Trees {
  const cache = createByteCache<string, Buffer>(MOST_CACHED_BYTES, (tree) => tree.length);

  async function read(id: string | undefined): Promise<Buffer> {
    if (id === undefined || id === EMPTY_TREE) return NONE;
    const known = cache.get(id);
    if (known !== undefined) return known;
    const object = await reader.read(id);
    if (object?.type !== 'tree') throw noTree(id);
    // Not a part of what the pipe brought with it.
    const bytes = Buffer.from(object.bytes);
    cache.add(id, bytes);
    return bytes;
  }

  return {
    async edit(base, changes, take) {
      const breathe = createBreath();

      /** Undefined for a folder in which nothing is left: git has no empty ones. */
      async function build(folder: Folder, from: string | undefined): Promise<string | undefined> {
        await breathe();
        const bytes = await read(from);
        const present =
          folder.folders.size === 0 ? NO_FOLDERS : foldersIn(bytes, folder.folders.keys());
        // Asked for together; answered by the time they are needed.
        const ahead = [...folder.folders.keys()].map((name) => read(present.get(name)));
        await Promise.all(ahead);
        const edits = new Map<string, TreeEntry | null>();
        for (const [name, inside] of folder.folders) {
          const id = await build(inside, present.get(name));
          if (id !== undefined) edits.set(name, { mode: FOLDER, id });
          else if (present.has(name)) edits.set(name, null);
        }
        for (const [name, entry] of folder.files) {
          // A file that went away may have made room for a folder.
          if (entry !== null || !edits.has(name)) edits.set(name, entry);
        }
        const edited = edits.size === 0 ? bytes : editTree(bytes, edits);
        if (edited.length === 0) return undefined;
        const id = objectId('tree', edited);
        if (id === from) return id;
        await take(id, edited);
        cache.add(id, edited);
        return id;
      }

      const root = await build(sorted(changes), base);
      if (root !== undefined) return root;
      await take(EMPTY_TREE, NONE);
      return EMPTY_TREE;
    },
  };
}

function sorted(changes: readonly FileChange[]): Folder {
  const root = newFolder();
  for (const change of changes) {
    const names = requireTreePath(change.path).split('/').map(toByteName);
    const last = names.pop() ?? '';
    let folder = root;
    for (const name of names) {
      const inside = folder.folders.get(name) ?? newFolder();
      folder.folders.set(name, inside);
      folder = inside;
    }
    if (!('deleted' in change)) folder.files.set(last, { mode: change.mode, id: change.hash });
    else if (!folder.files.has(last)) folder.files.set(last, null);
  }
  return root;
}

const newFolder = (): Folder => ({ files: new Map(), folders: new Map() });
