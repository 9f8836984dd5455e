/** What people and programs do to a folder, chosen by a seed. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Few, so that things meet: files become folders, folders links, and rules change under them. */
const PATHS = [
  'a',
  'b.txt',
  'dir/a',
  'dir/b',
  'dir/deep/c',
  'dir/deep/d e',
  'dir',
  'lib/one',
  'lib/two',
  'ünïcode/ñ',
  'x.log',
  'dir/y.log',
  'build/out',
  'build/keep.txt',
  '.env',
  '.hidden',
  'lib',
];
const RULES = ['', '*.log\n', 'build/\n', '*.log\nbuild/\n', 'dir/deep\n!x.log\n', '/a\n', 'lib\n'];

export function createEdits(root, random) {
  const at = (path) => join(root, path);
  const statOf = (path) => {
    try {
      return lstatSync(at(path), { throwIfNoEntry: false });
    } catch {
      // A parent is a file: so nothing is here.
      return undefined;
    }
  };
  const pick = (list) => list[random(list.length)];
  const content = () => {
    if (random(8) === 0) return Buffer.from(`same ${random(3)}\n`);
    if (random(12) === 0) return Buffer.alloc(0);
    if (random(6) === 0) return Buffer.from(Array.from({ length: 50 }, () => random(256)));
    return Buffer.from(`${random(1e9)}\n`.repeat(1 + random(40)));
  };

  /** Whatever is in the way goes, as when a branch is switched. */
  function makeRoom(path) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const parent = parts.slice(0, depth).join('/');
      const stat = statOf(parent);
      if (stat !== undefined && !stat.isDirectory()) rmSync(at(parent), { force: true });
    }
    rmSync(at(path), { recursive: true, force: true });
    mkdirSync(dirname(at(path)), { recursive: true });
  }

  /** Answers what was written, if it was a file. */
  function write(path = pick(PATHS)) {
    const bytes = content();
    const stat = statOf(path);
    if (stat?.isFile() !== true) makeRoom(path);
    if (random(3) === 0) {
      writeFileSync(at(`${path}.tmp~`), bytes);
      renameSync(at(`${path}.tmp~`), at(path));
    } else writeFileSync(at(path), bytes);
    return { path, id: blobId(bytes) };
  }

  function edit() {
    const path = pick(PATHS);
    const stat = statOf(path);
    switch (random(11)) {
      case 0:
        if (stat !== undefined) rmSync(at(path), { recursive: true, force: true });
        return;
      case 1:
        makeRoom(path);
        return symlinkSync(pick(['a', '../outside', 'nowhere', 'dir']), at(path));
      case 2:
        if (stat?.isFile() === true) chmodSync(at(path), (stat.mode & 0o100) === 0 ? 0o755 : 0o644);
        return;
      case 3:
        makeRoom(path);
        return mkdirSync(at(path));
      case 4: {
        const to = pick(PATHS);
        if (stat === undefined || to.startsWith(`${path}/`) || path.startsWith(to)) return;
        makeRoom(to);
        if (statOf(path) === undefined) return;
        return renameSync(at(path), at(to));
      }
      case 5: {
        const rules = pick(['.gitignore', 'dir/.gitignore']);
        if (statOf(dirname(rules))?.isDirectory() !== true) return;
        return writeFileSync(at(rules), pick(RULES));
      }
      case 6:
        // The same size and time as before.
        if (stat?.isFile() !== true || stat.size === 0) return;
        writeFileSync(at(path), Buffer.alloc(stat.size, 65 + random(26)));
        return utimesSync(at(path), stat.atime, stat.mtime);
      default:
        write(path);
    }
  }

  return { edit, write, pickPath: () => pick(PATHS) };
}

export function blobId(bytes) {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** path -> kind and blob id of every file and link on disk but the daemon's own. */
export function diskOf(root) {
  const found = new Map();
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (path === '.agentsmithy') continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isSymbolicLink()) {
        found.set(path, `link ${blobId(Buffer.from(readlinkSync(join(root, path))))}`);
      } else found.set(path, `file ${blobId(readFileSync(join(root, path)))}`);
    }
  };
  walk('');
  return found;
}
