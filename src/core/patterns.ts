import { addRule, readLines } from './pattern-index.js';
import type { Entry, GlobEntry, Index, Pattern, Rule, Slot } from './pattern-index.js';
import { foldAscii, toBytes } from './wildmatch.js';

export type { Pattern, Rule } from './pattern-index.js';

/** The patterns as seen from one folder. Folders where no path pattern can match share one view. */
export interface PatternView {
  /** The last pattern that matches the entry `name` of this folder. */
  match(name: string, isDirectory: boolean): Pattern | undefined;
  enter(name: string): PatternView;
  /** Whether a pattern with a slash could match something below the entry `name`. */
  reaches(name: string): boolean;
}

/**
 * One file of gitignore patterns, compiled. Most patterns are a plain name, `*.ext` or an anchored
 * path: those sit in maps and cost nothing when they do not match.
 *
 * The `ignore` package (7.0.14) was compared first: 300 of 161,551 generated paths came out otherwise
 * than in git. It counts characters where git counts bytes (`?` and `é`), does not cross folders in
 * `a**` + `/b`, drops a BOM on every line, stops `.` at a carriage return, and matches `[A]` without
 * case. It also keeps every path it was asked about, which a daemon cannot afford.
 */
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

export function compilePatterns(text: string, options: PatternOptions): PatternFile {
  const index: Index = {
    names: new Map(),
    suffixes: new Map(),
    everything: {},
    nameGlobs: [],
    fitting: new Map(),
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
  const globs = globsHere(place);
  const dead = folder !== '' && place.globs.length === 0 && !index.pathFolders.has(folder);

  const view: PatternView = {
    match(name, isDirectory) {
      const key = index.fold(name);
      let best = matchName(index, key, isDirectory);
      if (here !== undefined) best = latest(best, here.get(key), isDirectory);
      if (globs.length === 0) return best;
      return matchPathGlobs(globs, { key, isDirectory, best });
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

/** A glob as it applies to the entries of one folder. */
interface GlobHere {
  readonly entry: GlobEntry;
  /** The part of its plain start that the name has to supply. */
  readonly ahead: string;
  /** The part of the folder that the glob itself has to match. */
  readonly behind: string;
}

function globsHere({ folder, depth, globs }: Place): GlobHere[] {
  const bytes = toBytes(folder);
  return globs
    .filter((entry) => entry.depth === Infinity || entry.depth === depth)
    .map((entry) => {
      const { length } = entry.prefix;
      return { entry, ahead: entry.prefix.slice(bytes.length), behind: bytes.slice(length) };
    })
    .filter(({ ahead }) => !ahead.includes('/'));
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
  return index.nameGlobs.length === 0 ? best : matchNameGlobs(index, { key, isDirectory, best });
}

interface Trial {
  /** The name, folded. */
  readonly key: string;
  readonly isDirectory: boolean;
  /** What is found already: only a later pattern is of interest. */
  readonly best: Entry | undefined;
}

function matchNameGlobs(index: Index, { key, isDirectory, best }: Trial): Entry | undefined {
  let text = key;
  if (key.charCodeAt(0) > 127 || key.charCodeAt(key.length - 1) > 127) text = toBytes(key);
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(text.length - 1);
  let globs = index.fitting.get(first * 256 + last);
  if (globs === undefined) {
    globs = index.nameGlobs.filter(
      ({ glob }) =>
        (glob.first < 0 || glob.first === first) && (glob.last < 0 || glob.last === last),
    );
    index.fitting.set(first * 256 + last, globs);
  }
  if (globs.length === 0) return best;
  text = toBytes(key);
  for (const entry of globs) {
    if (best !== undefined && entry.order < best.order) return best;
    if ((isDirectory || !entry.directoryOnly) && entry.glob.matches(text)) return entry;
  }
  return best;
}

function matchPathGlobs(globs: readonly GlobHere[], trial: Trial): Entry | undefined {
  const { isDirectory, best } = trial;
  const name = toBytes(trial.key);
  const last = name.charCodeAt(name.length - 1);
  for (const { entry, ahead, behind } of globs) {
    if (best !== undefined && entry.order < best.order) return best;
    if (entry.directoryOnly && !isDirectory) continue;
    if (entry.glob.last >= 0 && entry.glob.last !== last) continue;
    if (!name.startsWith(ahead)) continue;
    if (entry.glob.matches(ahead === '' ? behind + name : name.slice(ahead.length))) return entry;
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
