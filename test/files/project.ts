import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Hash, Path } from '../../src/core/model.js';
import { planRestore } from '../../src/core/restore-plan.js';
import type { Entry, Step } from '../../src/core/restore-plan.js';
import type { FileMode } from '../../src/core/watching.js';
import type { ApplyOptions, Outcome } from '../../src/core/tree-writer.js';
import { createTreeWriter } from '../../src/files/tree-writer.js';
import type { Hold } from '../../src/files/walk.js';

/** A tree in words: `text`, `!text` executable, `@target` link, `null` an empty folder. */
export type Words = Readonly<Record<string, string | null>>;

export function hashOf(content: string | Uint8Array): Hash {
  const bytes = Buffer.from(content);
  const hash = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes);
  return hash.digest('hex') as Hash;
}

function read(word: string): { mode: FileMode; text: string } {
  if (word.startsWith('!')) return { mode: '100755', text: word.slice(1) };
  if (word.startsWith('@')) return { mode: '120000', text: word.slice(1) };
  return { mode: '100644', text: word };
}

export function entryOf(word: string): Entry {
  const { mode, text } = read(word);
  return { mode, hash: hashOf(text) };
}

function split(words: Words) {
  const files = Object.entries(words).flatMap(([path, word]) =>
    word === null ? [] : [[path as Path, word] as const],
  );
  const empty = Object.keys(words).filter((path) => words[path] === null) as Path[];
  return { files: new Map(files), empty };
}

/** The steps from one tree to another. */
export function stepsBetween(from: Words, to: Words): readonly Step[] {
  const [now, target] = [split(from), split(to)];
  const paths = [...new Set([...now.files.keys(), ...target.files.keys()])];
  const entry = (word: string | undefined) => (word === undefined ? null : entryOf(word));
  const differences = paths.map((path) => ({
    path,
    from: entry(now.files.get(path)),
    to: entry(target.files.get(path)),
  }));
  const emptyFolders = { wanted: target.empty, present: now.empty };
  return planRestore({ differences, emptyFolders }).steps;
}

/** `restored`, `deleted`, `unchanged` or the reason of a skip, by path. */
export function told(outcomes: readonly Outcome[]): Record<string, string> {
  return Object.fromEntries(
    outcomes.map((one) => [one.path, one.result === 'skipped' ? one.reason : one.result]),
  );
}

export function createProject(hold?: Hold) {
  const root = mkdtempSync(join(tmpdir(), 'smithyd-files-'));
  const store = new Map<Hash, Uint8Array>();
  const at = (path: string) => join(root, path);

  const put = (words: Words) => {
    for (const [path, word] of Object.entries(words)) {
      mkdirSync(word === null ? at(path) : dirname(at(path)), { recursive: true });
      if (word === null) continue;
      const { mode, text } = read(word);
      if (mode === '120000') symlinkSync(text, at(path));
      else writeFileSync(at(path), text);
      if (mode === '100755') chmodSync(at(path), 0o755);
    }
  };

  /** What is on disk, in the same words. */
  const tree = (folder = ''): Record<string, string | null> => {
    const names = readdirSync(at(folder)).sort();
    const found: Record<string, string | null> = {};
    for (const name of names) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = lstatSync(at(path));
      if (stat.isSymbolicLink()) found[path] = `@${readlinkSync(at(path))}`;
      else if (!stat.isDirectory()) {
        const isExecutable = (stat.mode & 0o100) !== 0;
        found[path] =
          `${isExecutable ? '!' : ''}${stat.isFile() ? readFileSync(at(path), 'utf8') : '?'}`;
      } else {
        const below = tree(path);
        Object.assign(found, Object.keys(below).length === 0 ? { [path]: null } : below);
      }
    }
    return found;
  };

  const writer = createTreeWriter({ root, ...(hold === undefined ? {} : { hold }) });
  const remember = (words: Words) => {
    for (const word of Object.values(words)) {
      if (word !== null) store.set(hashOf(read(word).text), Buffer.from(read(word).text));
    }
  };
  const content = (hash: Hash) => {
    const bytes = store.get(hash);
    return bytes === undefined
      ? Promise.reject(new Error(`no object ${hash}`))
      : Promise.resolve(bytes);
  };
  const restore = async (from: Words, to: Words, options: ApplyOptions = {}) => {
    remember(to);
    return told(await writer.apply(stepsBetween(from, to), content, options));
  };

  return {
    root,
    at,
    put,
    tree,
    store,
    remember,
    content,
    writer,
    restore,
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export type Project = ReturnType<typeof createProject>;
