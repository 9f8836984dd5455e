/** What a repository of somebody says: its commits, their trees and contents. Read with git, never written. */
import { spawnSync } from 'node:child_process';

const LINK = '120000';
const POINTER = '160000';
export const isLink = ({ mode }) => mode === LINK;
/** A commit of a submodule, which is no content of this repository. */
export const isPointer = ({ mode }) => mode === POINTER;

/** Bytes, since a path may be any. */
export function gitBytes(folder, args, input = '') {
  const { status, stdout, stderr } = spawnSync('git', args, {
    cwd: folder,
    input,
    env: {
      PATH: process.env.PATH,
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      // The folder may belong to somebody else; nothing is run from it.
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      LC_ALL: 'C.UTF-8',
    },
    maxBuffer: 2 ** 30,
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`);
  return stdout;
}

export const gitText = (folder, args) => gitBytes(folder, args).toString('utf8');

/** The newest `count` commits along the first parents, the oldest first. */
export function commitsOf(repository, count) {
  const form = '--format=%H %s';
  const lines = gitText(repository, ['log', '--first-parent', '-n', String(count), form, 'HEAD'])
    .split('\n')
    .filter(Boolean)
    .reverse();
  return lines.map((line) => ({ id: line.slice(0, 40), subject: line.slice(41) }));
}

/** Path -> { mode, hash }. A path that is no UTF-8 has its bytes as `latin1:...`. */
export function treeOf(folder, commit) {
  const tree = new Map();
  for (const line of split(gitBytes(folder, ['ls-tree', '-r', '-z', commit]))) {
    const tab = line.indexOf(0x09);
    const [mode, , hash] = line.subarray(0, tab).toString('latin1').split(' ');
    tree.set(nameOf(line.subarray(tab + 1)), { mode, hash });
  }
  return tree;
}

const ODD = 'latin1:';
const nameOf = (bytes) => {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : `${ODD}${bytes.toString('latin1')}`;
};
export const isOddName = (path) => path.startsWith(ODD);
export const bytesOf = (path) =>
  isOddName(path) ? Buffer.from(path.slice(ODD.length), 'latin1') : Buffer.from(path);

function split(bytes) {
  const parts = [];
  for (let from = 0, to = bytes.indexOf(0); to !== -1; from = to + 1, to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to));
  }
  return parts;
}

/** Hash -> content, for many at once. */
export function blobsOf(repository, hashes) {
  const wanted = [...new Set(hashes)];
  const found = new Map();
  if (wanted.length === 0) return found;
  const bytes = gitBytes(repository, ['cat-file', '--batch'], `${wanted.join('\n')}\n`);
  let at = 0;
  for (const hash of wanted) {
    const end = bytes.indexOf(0x0a, at);
    const [, kind, size] = bytes.toString('latin1', at, end).split(' ');
    if (kind !== 'blob') throw new Error(`${hash} is not a blob of this repository`);
    found.set(hash, bytes.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return found;
}

/** What leads from one tree to the next: `entry` undefined means gone. */
export function changesBetween(before, after) {
  const changes = [];
  for (const [path, entry] of before) {
    if (!after.has(path)) changes.push({ path, before: entry, entry: undefined });
  }
  for (const [path, entry] of after) {
    const old = before.get(path);
    if (old === undefined || !isSame(old, entry)) changes.push({ path, before: old, entry });
  }
  return changes;
}

export const isSame = (one, other) => one?.mode === other?.mode && one?.hash === other?.hash;
