import type { Hash, Path } from '../core/model.js';
import type { FileEntry, TreeChange } from '../core/store.js';
import type { FileMode } from '../core/watching.js';
import { noTree } from './failures.js';
import type { Reader } from './reader.js';
import { FOLDER, idBefore, placesOf } from './tree-bytes.js';

/** Trees read at a time; one has a few kilobytes. */
const AT_ONCE = 64;

interface Named {
  readonly mode: string;
  readonly id: string;
}

/** Two folders at one path; undefined where there is none. */
interface Pair {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * What differs between two trees, without looking for renames. Reads only folders that differ, from
 * the child that is there anyway: starting another one costs a large daemon 10 ms and more.
 */
export async function compareTrees(reader: Reader, from: string, to: string) {
  const changes: TreeChange[] = [];
  const left: Pair[] = from === to ? [] : [{ path: '', before: from, after: to }];
  while (left.length > 0) {
    const some = left.splice(-AT_ONCE);
    const read = await Promise.all(
      some.map(async (pair) => ({
        pair,
        before: await entriesOf(reader, pair.before),
        after: await entriesOf(reader, pair.after),
      })),
    );
    for (const { pair, before, after } of read) {
      for (const name of new Set([...before.keys(), ...after.keys()])) {
        compareOne(
          { path: `${pair.path}${name}`, changes, left },
          before.get(name),
          after.get(name),
        );
      }
    }
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The file at one path of a tree: reads the folders on the way, and nothing beside it. */
export async function findInTree(
  reader: Reader,
  tree: string,
  path: Path,
): Promise<Named | undefined> {
  let found: Named | undefined = { mode: FOLDER, id: tree };
  for (const name of path.split('/')) {
    const folder = folderOf(found);
    if (folder === undefined) return undefined;
    found = (await entriesOf(reader, folder)).get(name);
  }
  return folderOf(found) === undefined ? found : undefined;
}

interface Findings {
  readonly path: string;
  readonly changes: TreeChange[];
  readonly left: Pair[];
}

function compareOne(
  { path, changes, left }: Findings,
  before: Named | undefined,
  after: Named | undefined,
): void {
  if (before?.id === after?.id && before?.mode === after?.mode) return;
  const [folderBefore, folderAfter] = [folderOf(before), folderOf(after)];
  if (folderBefore !== undefined || folderAfter !== undefined) {
    left.push({ path: `${path}/`, before: folderBefore, after: folderAfter });
  }
  const [fileBefore, fileAfter] = [fileOf(before), fileOf(after)];
  if (fileBefore === null && fileAfter === null) return;
  const change = fileBefore === null ? 'added' : fileAfter === null ? 'deleted' : 'modified';
  changes.push({ path: path as Path, change, before: fileBefore, after: fileAfter });
}

function folderOf(entry: Named | undefined): string | undefined {
  return entry?.mode === FOLDER ? entry.id : undefined;
}

function fileOf(entry: Named | undefined): FileEntry | null {
  if (entry === undefined || entry.mode === FOLDER) return null;
  return { mode: entry.mode as FileMode, hash: entry.id as Hash };
}

async function entriesOf(reader: Reader, id: string | undefined): Promise<Map<string, Named>> {
  if (id === undefined) return new Map();
  const object = await reader.read(id);
  if (object?.type === 'tree') return parse(object.bytes);
  throw noTree(id);
}

function parse(bytes: Buffer): Map<string, Named> {
  const entries = new Map<string, Named>();
  for (const { name, mode, end } of placesOf(bytes)) {
    const text = Buffer.from(name, 'latin1').toString();
    entries.set(text, { mode, id: idBefore(bytes, end) });
  }
  return entries;
}
