/** Brings a folder from one tree of git to the next, as a checkout would, and reads it back. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { blobsOf, bytesOf, isLink, isPointer } from './git-history.mjs';

/** Returns how many bytes it wrote. */
export function writeChanges({ repository, root, changes }) {
  const written = changes.filter(({ entry }) => entry !== undefined && !isPointer(entry));
  const blobs = blobsOf(
    repository,
    written.map(({ entry }) => entry.hash),
  );
  const at = (path) => Buffer.concat([Buffer.from(`${root}/`), bytesOf(path)]);
  // What goes goes first: a folder may become a file, and a file a folder.
  for (const { path, before, entry } of changes) {
    if (before === undefined || isPointer(before)) continue;
    if (entry === undefined || isLink(before) !== isLink(entry)) rmSync(at(path), { force: true });
    if (entry === undefined) removeEmptied(root, path);
  }
  let bytes = 0;
  for (const { path, entry } of written) {
    const content = blobs.get(entry.hash);
    bytes += content.length;
    mkdirSync(parent(at(path)), { recursive: true });
    if (isLink(entry)) {
      rmSync(at(path), { force: true });
      symlinkSync(content, at(path));
      continue;
    }
    writeFileSync(at(path), content);
    chmodSync(at(path), entry.mode === '100755' ? 0o755 : 0o644);
  }
  return bytes;
}

const parent = (bytes) => bytes.subarray(0, bytes.lastIndexOf(0x2f));

/** Git keeps no empty folder. */
function removeEmptied(root, path) {
  const text = bytesOf(path).toString('latin1');
  for (let folder = dirname(text); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(Buffer.from(`${Buffer.from(root).toString('latin1')}/${folder}`, 'latin1'));
    } catch {
      return;
    }
  }
}

/** { mode, hash } of what is there, as git would name it; undefined when nothing is. */
export function entryAt(root, path) {
  const at = `${root}/${path}`;
  const stat = lstatSync(at, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) {
    return { mode: '120000', hash: hashOf(readlinkSync(at, { encoding: 'buffer' })) };
  }
  if (!stat.isFile()) return { mode: 'not a file', hash: '' };
  const mode = (stat.mode & 0o100) === 0 ? '100644' : '100755';
  return { mode, hash: hashOf(readFileSync(at)) };
}

function hashOf(bytes) {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}
