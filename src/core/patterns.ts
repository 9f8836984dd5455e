import { compileGlob, foldAscii, toBytes, type Glob } from './wildmatch.js';

/**
 * One file of gitignore patterns, compiled. Most patterns are a plain name, `*.ext` or an anchored
 * path: those sit in maps and cost nothing when they do not match. The `ignore` package was measured
 * first: it matches characters where git matches bytes, reads `a**` + `/b` differently, and keeps every
 * path it ever saw in a cache without bound; a daemon needs none of the three.
 */
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

/** The patterns as seen from one folder. Folders where no path pattern can match share one view. */
export interface PatternView {
  /** The last pattern that matches the entry `name` of this folder. */
  match(name: string, isDirectory: boolean): Pattern | undefined;
  enter(name: string): PatternView;
  /** Whether a pattern with a slash could match something below the entry `name`. */
  reaches(name: string): boolean;
}

export interface PatternFile {
  /** The view from the folder the patterns are relative to. */
  readonly top: PatternView;
  readonly size: number;
  /** Whether a pattern without a slash could match at any depth. */
  readonly anywhere: boolean;
  /** Rules that are not applied, with the reason. Grows when a pattern proves hostile. */
  dropped(): readonly DroppedRule[];
}

export interface DroppedRule {
  readonly rule: Rule;
  readonly why: 'too_long' | 'too_many' | 'too_slow';
}

export interface PatternOptions {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** No path is longer, so no useful pattern is. */
const MAX_PATTERN_CHARACTERS = 4096;
const MAX_PATTERNS = 20_000;
/** Those that no map can hold and that are tried one by one. */
const MAX_GLOBS = 1_000;

interface Entry extends Pattern {
  readonly order: number;
  readonly directoryOnly: boolean;
}

interface GlobEntry extends Entry {
  /** Plain start of the pattern, compared before anything else is tried. */
  readonly prefix: string;
  readonly glob: Glob;
  /** Depth of the folders whose entries can match; infinite with `**`. */
  readonly depth: number;
}

/** The last pattern for a key, for directories and for everything else. */
interface Slot {
  any?: Entry;
  directory?: Entry;
}

interface Index {
  readonly names: Map<string, Slot>;
  /** `*literal` by the last character of the literal. */
  readonly suffixes: Map<number, { readonly suffix: string; readonly slot: Slot }[]>;
  /** `*` alone. */
  readonly everything: Slot;
  /** Globs without a slash, last first. */
  readonly nameGlobs: GlobEntry[];
  /** Anchored plain paths: folder with trailing slash, then name. */
  readonly paths: Map<string, Map<string, Slot>>;
  /** Every folder at or above one in `paths`. */
  readonly pathFolders: Set<string>;
  /** Globs with a slash, last first. */
  readonly pathGlobs: GlobEntry[];
  readonly fold: (text: string) => string;
}

export function compilePatterns(text: string, options: PatternOptions): PatternFile {
  const index: Index = {
    names: new Map(),
    suffixes: new Map(),
    everything: {},
    nameGlobs: [],
    paths: new Map(),
    pathFolders: new Set(),
    pathGlobs: [],
    fold: options.ignoreCase ? foldAscii : (plain) => plain,
  };
  const dropped: DroppedRule[] = [];
  let size = 0;
  let globs = 0;
  for (const { line, pattern } of readLines(text)) {
    const rule = { source: options.source, line, pattern };
    if (pattern.length > MAX_PATTERN_CHARACTERS) dropped.push({ rule, why: 'too_long' });
    else if (size >= MAX_PATTERNS) dropped.push({ rule, why: 'too_many' });
    else {
      const added = addRule(index, { rule, order: size, ignoreCase: options.ignoreCase });
      if (added === 'glob' && (globs += 1) > MAX_GLOBS) {
        // Taken out again: the newest glob is the last of its list.
        (index.pathGlobs.at(-1)?.order === size ? index.pathGlobs : index.nameGlobs).pop();
        dropped.push({ rule, why: 'too_many' });
      } else size += 1;
    }
  }
  index.nameGlobs.reverse();
  index.pathGlobs.reverse();
  const slow = (): DroppedRule[] =>
    [...index.nameGlobs, ...index.pathGlobs]
      .filter((entry) => entry.glob.exhausted())
      .map(({ rule }) => ({ rule, why: 'too_slow' }));
  const nameOnly = index.names.size + index.suffixes.size + index.nameGlobs.length > 0;
  return {
    top: createView(index, { folder: '', depth: 0, globs: index.pathGlobs }),
    size,
    anywhere:
      nameOnly || index.everything.any !== undefined || index.everything.directory !== undefined,
    dropped: () => [...dropped, ...slow()],
  };
}

/** Lines as git cuts them: one BOM off, LF or CRLF, comments out, blanks at the end off. */
function* readLines(text: string): Generator<{ line: number; pattern: string }> {
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

function addRule(index: Index, { rule, order, ignoreCase }: NewRule): 'plain' | 'glob' | 'never' {
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

interface Place {
  /** From the base of the patterns, folded, with a trailing slash; '' at the base. */
  readonly folder: string;
  readonly depth: number;
  /** Those that may still match here or below, last first. */
  readonly globs: readonly GlobEntry[];
}

function createView(index: Index, place: Place): PatternView {
  const { folder, depth } = place;
  const here = index.paths.get(folder);
  const globs = place.globs.filter((entry) => entry.depth === Infinity || entry.depth === depth);
  const dead = folder !== '' && place.globs.length === 0 && !index.pathFolders.has(folder);
  const bytes = toBytes(folder);

  const view: PatternView = {
    match(name, isDirectory) {
      const key = index.fold(name);
      let best = matchName(index, key, isDirectory);
      if (here !== undefined) best = latest(best, here.get(key), isDirectory);
      if (globs.length === 0) return best;
      return tryGlobs(globs, { text: bytes + toBytes(key), isDirectory, best });
    },
    enter(name) {
      if (dead) return view;
      const child = `${folder}${index.fold(name)}/`;
      const alive = place.globs.filter((entry) => mayReach(entry, toBytes(child), depth + 1));
      if (alive.length > 0 || index.pathFolders.has(child)) {
        return createView(index, { folder: child, depth: depth + 1, globs: alive });
      }
      return nameView(index);
    },
    reaches(name) {
      const child = `${folder}${index.fold(name)}/`;
      if (index.pathFolders.has(child)) return true;
      const text = toBytes(child);
      return place.globs.some((entry) => {
        if (entry.negated || !mayReach(entry, text, depth + 1)) return false;
        if (text.length <= entry.prefix.length) return true;
        return entry.glob.reaches(text.slice(entry.prefix.length));
      });
    },
  };
  return view;
}

/** A mismatch in the plain start, or too great a depth, holds for everything further down. */
function mayReach(entry: GlobEntry, folder: string, depth: number): boolean {
  if (entry.depth < depth) return false;
  const { prefix } = entry;
  return folder.length < prefix.length ? prefix.startsWith(folder) : folder.startsWith(prefix);
}

const nameViews = new WeakMap<Index, PatternView>();

/** One view for all folders where only names count. */
function nameView(index: Index): PatternView {
  const known = nameViews.get(index);
  if (known !== undefined) return known;
  const view: PatternView = {
    match: (name, isDirectory) => matchName(index, index.fold(name), isDirectory),
    enter: () => view,
    reaches: () => false,
  };
  nameViews.set(index, view);
  return view;
}

function matchName(index: Index, key: string, isDirectory: boolean): Entry | undefined {
  let best = latest(undefined, index.everything, isDirectory);
  best = latest(best, index.names.get(key), isDirectory);
  const bucket = index.suffixes.get(key.charCodeAt(key.length - 1));
  if (bucket !== undefined) {
    for (const { suffix, slot } of bucket) {
      if (key.endsWith(suffix)) best = latest(best, slot, isDirectory);
    }
  }
  if (index.nameGlobs.length === 0) return best;
  return tryGlobs(index.nameGlobs, { text: toBytes(key), isDirectory, best });
}

interface Trial {
  readonly text: string;
  readonly isDirectory: boolean;
  readonly best: Entry | undefined;
}

function tryGlobs(globs: readonly GlobEntry[], trial: Trial): Entry | undefined {
  const { text, isDirectory, best } = trial;
  for (const entry of globs) {
    if (best !== undefined && entry.order < best.order) return best;
    if (entry.directoryOnly && !isDirectory) continue;
    if (!text.startsWith(entry.prefix)) continue;
    if (entry.glob.matches(entry.prefix === '' ? text : text.slice(entry.prefix.length))) {
      return entry;
    }
  }
  return best;
}

function latest(
  best: Entry | undefined,
  slot: Slot | undefined,
  isDirectory: boolean,
): Entry | undefined {
  if (slot === undefined) return best;
  const { any, directory } = slot;
  let found = best;
  if (any !== undefined && (found === undefined || any.order > found.order)) found = any;
  if (!isDirectory || directory === undefined) return found;
  return found === undefined || directory.order > found.order ? directory : found;
}
