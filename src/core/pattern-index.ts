import { compileGlob, toBytes, type Glob } from './wildmatch.js';

/** Reads ignore files line by line and files each pattern where it is cheapest to find. */
export interface Rule {
  /** The file or setting it stands in. */
  readonly source: string;
  readonly line: number;
  /** As written, without trailing blanks. */
  readonly pattern: string;
}

export interface Pattern {
  readonly rule: Rule;
  readonly negated: boolean;
}

export interface Entry extends Pattern {
  readonly order: number;
  readonly directoryOnly: boolean;
}

export interface GlobEntry extends Entry {
  /** Plain start of the pattern, compared before anything else is tried. */
  readonly prefix: string;
  readonly glob: Glob;
  /** Depth of the folders whose entries can match; infinite with `**`. */
  readonly depth: number;
}

/** The last pattern for a key, for directories and for everything else. */
export interface Slot {
  any?: Entry;
  directory?: Entry;
}

export interface Index {
  readonly names: Map<string, Slot>;
  /** `*literal` by the last character of the literal. */
  readonly suffixes: Map<number, { readonly suffix: string; readonly slot: Slot }[]>;
  /** `*` alone. */
  readonly everything: Slot;
  /** Globs without a slash, last first. */
  readonly nameGlobs: GlobEntry[];
  /** Those of them that fit a first and a last byte; filled as names come by. */
  readonly fitting: Map<number, readonly GlobEntry[]>;
  /** Anchored plain paths: folder with trailing slash, then name. */
  readonly paths: Map<string, Map<string, Slot>>;
  /** Every folder at or above one in `paths`. */
  readonly pathFolders: Set<string>;
  /** Globs with a slash, last first. */
  readonly pathGlobs: GlobEntry[];
  readonly fold: (text: string) => string;
}

/** Lines as git cuts them: one BOM off, LF or CRLF, comments out, blanks at the end off. */
export function* readLines(text: string): Generator<{ line: number; pattern: string }> {
  const lines = (text.startsWith('\ufeff') ? text.slice(1) : text).split('\n');
  for (const [index, raw] of lines.entries()) {
    if (raw === '' || raw.startsWith('#')) continue;
    const nul = raw.indexOf('\0');
    const ended = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const pattern = trimBlanks(nul < 0 ? ended : raw.slice(0, nul));
    if (pattern !== '') yield { line: index + 1, pattern };
  }
}

/** Only spaces go, and not one that a backslash holds. */
function trimBlanks(line: string): string {
  if (!line.endsWith(' ')) return line;
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end -= 1;
  let backslashes = 0;
  while (backslashes < end && line[end - 1 - backslashes] === '\\') backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

interface NewRule {
  readonly rule: Rule;
  readonly order: number;
  readonly ignoreCase: boolean;
}

export function addRule(
  index: Index,
  { rule, order, ignoreCase }: NewRule,
): 'plain' | 'glob' | 'never' {
  const negated = rule.pattern.startsWith('!');
  const given = negated ? rule.pattern.slice(1) : rule.pattern;
  const directoryOnly = given.endsWith('/');
  const entry: Entry = { rule, negated, order, directoryOnly };
  const { body, isName } = readBody(directoryOnly ? given.slice(0, -1) : given);

  const wild = body.search(/[*?[\\]/u);
  if (wild < 0) {
    if (isName) put(slotOf(index.names, index.fold(body)), entry);
    else addPath(index, index.fold(body), entry);
    return 'plain';
  }
  if (isName && /^\*[^*?[\\]*$/u.test(body)) {
    addSuffix(index, index.fold(body.slice(1)), entry);
    return 'plain';
  }
  // git compares the plain start by itself and gives only the rest to the glob matcher. It shows
  // with `a**/b`: the rest begins with `**/`, so it crosses folders although `a` stands before it.
  const split = isName ? 0 : wild;
  const glob = compileGlob(toBytes(body.slice(split)), ignoreCase);
  if (glob === undefined) return 'never';
  const prefix = toBytes(index.fold(body.slice(0, split)));
  const depth = glob.slashes + prefix.split('/').length - 1;
  (isName ? index.nameGlobs : index.pathGlobs).push({ ...entry, prefix, glob, depth });
  return 'glob';
}

/** A name counts at any depth, anything with a slash is a path from the base. */
function readBody(given: string): { body: string; isName: boolean } {
  if (!given.includes('/')) return { body: given, isName: true };
  const path = given.startsWith('/') ? given.slice(1) : given;
  // A leading `**/` before a single part says what a pattern without a slash says anyway.
  const single = /^(?:\*{2,}\/)+([^/]+)$/u.exec(path)?.[1];
  return { body: single ?? path, isName: single !== undefined };
}

function addPath(index: Index, path: string, entry: Entry): void {
  const cut = path.lastIndexOf('/') + 1;
  const folder = path.slice(0, cut);
  const names = index.paths.get(folder) ?? new Map<string, Slot>();
  index.paths.set(folder, names);
  put(slotOf(names, path.slice(cut)), entry);
  for (let at = folder.indexOf('/'); at >= 0; at = folder.indexOf('/', at + 1)) {
    index.pathFolders.add(folder.slice(0, at + 1));
  }
}

function addSuffix(index: Index, suffix: string, entry: Entry): void {
  if (suffix === '') {
    put(index.everything, entry);
    return;
  }
  const last = suffix.charCodeAt(suffix.length - 1);
  let bucket = index.suffixes.get(last);
  if (bucket === undefined) index.suffixes.set(last, (bucket = []));
  let found = bucket.find((candidate) => candidate.suffix === suffix);
  if (found === undefined) bucket.push((found = { suffix, slot: {} }));
  put(found.slot, entry);
}

function slotOf(map: Map<string, Slot>, key: string): Slot {
  let slot = map.get(key);
  if (slot === undefined) map.set(key, (slot = {}));
  return slot;
}

function put(slot: Slot, entry: Entry): void {
  if (entry.directoryOnly) slot.directory = entry;
  else slot.any = entry;
}
