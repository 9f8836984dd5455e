import { isProtected } from './paths.js';
import { isTemporary } from './tree-writer.js';
import { compilePatterns, type DroppedRule, type PatternFile } from './patterns.js';
import type { Pattern, PatternView } from './patterns.js';
import { FIXED_EXCLUSIONS, PROJECT_DOTFILES, SECRETS } from './tracking.js';
import type {
  Decision,
  EntryKind,
  FolderRules,
  Reason,
  RuleOptions,
  RuleText,
  TrackHidden,
} from './tracking.js';

export interface RootRules extends FolderRules {
  /** Patterns that are not applied, so far. */
  dropped(): readonly DroppedRule[];
}

/** One source of git's rules, as seen from the present folder. */
interface GitLayer {
  readonly reason: Reason;
  readonly view: PatternView;
}

/** What stays the same in the whole tree. */
interface Shared {
  readonly trackHidden: TrackHidden;
  readonly include: PatternFile | undefined;
  readonly gitOnly: boolean;
  readonly read: (source: string, text: string) => PatternFile;
}

interface Place {
  /** The deepest ignore file first, the global excludes last. */
  readonly layers: readonly GitLayer[];
  readonly include: PatternView | undefined;
  readonly exclude: PatternView | undefined;
  /** Set inside a folder that was excluded or included as a whole. */
  readonly inherited: Decision | undefined;
  /** Inside a folder that S3-39 always excludes. */
  readonly sealed: boolean;
}

const list = (name: string, patterns: readonly string[], ignoreCase = false) =>
  compilePatterns(patterns.join('\n'), { source: name, ignoreCase }).top;
// Only names, never paths: the top view serves every folder.
const fixed = list('fixed exclusions', FIXED_EXCLUSIONS);
const projectDotfiles = list('project dotfiles', PROJECT_DOTFILES);
const secrets = list('secret-looking files', SECRETS, true);

/** Compiled ignore files to remember; a tree with more of them only loses time. */
const MAX_KNOWN_FILES = 5000;

const TRACKED: Decision = { tracked: true, enter: true, reason: 'default' };
const PROTECTED: Decision = { tracked: false, enter: false, reason: 'protected' };
const HIDDEN: Decision = { tracked: false, enter: false, reason: 'hidden' };

export function createRules(options: RuleOptions): RootRules {
  const { config, ignoreCase } = options;
  const { read, dropped } = createReader(ignoreCase);
  const setting = (name: 'include' | 'exclude'): PatternFile | undefined =>
    config[name].length === 0 ? undefined : read(name, config[name].join('\n'));
  const include = setting('include');
  const shared = {
    trackHidden: config.trackHidden,
    include,
    gitOnly: options.gitOnly ?? false,
    read,
  };
  const rules = createFolder(shared, {
    layers: rootLayers(options, read),
    include: include?.top,
    exclude: setting('exclude')?.top,
    inherited: undefined,
    sealed: false,
  });
  return { ...rules, dropped };
}

/** Walks come back to the same ignore files, so a file is compiled again only when its text changed. */
function createReader(ignoreCase: boolean): {
  read: Shared['read'];
  dropped: RootRules['dropped'];
} {
  const known = new Map<string, { readonly text: string; readonly file: PatternFile }>();
  return {
    read(source, text) {
      const before = known.get(source);
      if (before?.text === text) return before.file;
      if (known.size >= MAX_KNOWN_FILES) known.clear();
      const file = compilePatterns(text, { source, ignoreCase });
      known.set(source, { text, file });
      return file;
    },
    dropped: () => [...known.values()].flatMap(({ file }) => file.dropped()),
  };
}

/**
 * The root itself counts as wanted even when rules above it exclude it or a folder it is in:
 * somebody chose to watch it. Patterns from above still apply to what is inside.
 */
function rootLayers(options: RuleOptions, read: Shared['read']): GitLayer[] {
  const prefix = split(options.prefix ?? '');
  const down = (file: PatternFile, parts: readonly string[]): PatternView =>
    parts.reduce((view, part) => view.enter(part), file.top);
  const layers: GitLayer[] = [];
  const { rootIgnore, infoExclude, globalExcludes, above = [] } = options;
  if (rootIgnore !== undefined) {
    layers.push({ reason: 'gitignore', view: read('.gitignore', rootIgnore).top });
  }
  for (const { base, text } of above.toReversed()) {
    const depth = split(base).length;
    const source = `${'../'.repeat(prefix.length - depth)}.gitignore`;
    layers.push({ reason: 'gitignore', view: down(read(source, text), prefix.slice(depth)) });
  }
  if (infoExclude !== undefined) {
    const file = read(infoExclude.source, infoExclude.text);
    layers.push({ reason: 'info_exclude', view: down(file, prefix) });
  }
  if (globalExcludes !== undefined) {
    const file = read(globalExcludes.source, globalExcludes.text);
    layers.push({ reason: 'global_excludes', view: down(file, prefix) });
  }
  return layers;
}

function createFolder(shared: Shared, place: Place): FolderRules {
  const { layers, include, inherited } = place;

  function decide(name: string, kind: EntryKind): Decision {
    if (mayBeProtected(name) && isNeverTracked(name)) return PROTECTED;
    const isDirectory = kind === 'directory';
    if (include !== undefined) {
      const hit = include.match(name, isDirectory);
      if (hit !== undefined && !hit.negated) return decided('include', hit);
      if (hit === undefined && inherited?.tracked === true) {
        // A folder that is included does not name the secrets inside it.
        return secretDecision(name, isDirectory) ?? inherited;
      }
    }
    const excluded = exclusion(name, isDirectory);
    if (excluded === undefined) return TRACKED;
    if (!isDirectory || include === undefined) return excluded;
    return opens(name) ? { ...excluded, enter: true } : excluded;
  }

  function exclusion(name: string, isDirectory: boolean): Decision | undefined {
    if (inherited?.tracked === false) return inherited;
    for (const { view, reason } of layers) {
      const hit = view.match(name, isDirectory);
      if (hit === undefined) continue;
      if (!hit.negated) return decided(reason, hit);
      break;
    }
    return shared.gitOnly ? undefined : ownExclusion(name, isDirectory);
  }

  function ownExclusion(name: string, isDirectory: boolean): Decision | undefined {
    const always = secretDecision(name, isDirectory) ?? fixedExclusion(shared, name, isDirectory);
    if (always !== undefined) return always;
    const hit = place.exclude?.match(name, isDirectory);
    return hit === undefined || hit.negated ? undefined : decided('exclude', hit);
  }

  /**
   * Whether an included path may be inside an excluded folder. A pattern without a slash matches at
   * any depth, but it does not open what S3-39 always excludes: `include: [".env"]` must not walk
   * node_modules. A pattern with a slash opens what it leads into.
   */
  function opens(name: string): boolean {
    if (include?.reaches(name) === true) return true;
    return shared.include?.anywhere === true && !sealedBelow(name);
  }

  function sealedBelow(name: string): boolean {
    return place.sealed || fixedExclusion(shared, name, true) !== undefined;
  }

  function enter(name: string, ignoreFile: RuleText | undefined): FolderRules {
    const decision = decide(name, 'directory');
    const own = ignoreFile === undefined ? [] : [ownLayer(shared, ignoreFile)];
    const child: Place = {
      layers: [...own, ...enterLayers(layers, name)],
      include: include?.enter(name),
      exclude: place.exclude?.enter(name),
      inherited: inheritedBy(decision),
      sealed: !decision.tracked && sealedBelow(name),
    };
    return sameRules(place, child) ? rules : createFolder(shared, child);
  }

  const rules: FolderRules = { decide, enter };
  return rules;
}

function ownLayer(shared: Shared, { source, text }: RuleText): GitLayer {
  return { reason: 'gitignore', view: shared.read(source, text).top };
}

function enterLayers(layers: readonly GitLayer[], name: string): readonly GitLayer[] {
  return layers.map((layer) => {
    const view = layer.view.enter(name);
    return view === layer.view ? layer : { reason: layer.reason, view };
  });
}

function inheritedBy(decision: Decision): Decision | undefined {
  if (!decision.tracked) return decision.enter ? { ...decision, enter: false } : decision;
  return decision.reason === 'include' ? decision : undefined;
}

/** Where nothing depends on the path any more, parent and child are one object. */
function sameRules(parent: Place, child: Place): boolean {
  return (
    parent.layers.length === child.layers.length &&
    parent.layers.every((layer, index) => layer === child.layers[index]) &&
    parent.include === child.include &&
    parent.exclude === child.exclude &&
    parent.inherited === child.inherited &&
    parent.sealed === child.sealed
  );
}

function fixedExclusion(shared: Shared, name: string, isDirectory: boolean): Decision | undefined {
  const hit = fixed.match(name, isDirectory);
  if (hit !== undefined) return decided('fixed', hit);
  if (shared.trackHidden === 'all' || !name.startsWith('.')) return undefined;
  if (shared.trackHidden === 'none') return HIDDEN;
  return projectDotfiles.match(name, isDirectory) === undefined ? HIDDEN : undefined;
}

function secretDecision(name: string, isDirectory: boolean): Decision | undefined {
  const hit = secrets.match(name, isDirectory);
  return hit === undefined || hit.negated ? undefined : decided('secret', hit);
}

function decided(reason: Reason, { rule }: Pattern): Decision {
  const tracked = reason === 'include';
  return { tracked, enter: tracked, reason, rule };
}

/** Folders that are off limits, and what our own restore is just writing. */
function isNeverTracked(name: string): boolean {
  return isProtected(name) || isTemporary(name);
}

/** Cheap doorkeeper for `isNeverTracked`: every protected spelling starts like this. */
function mayBeProtected(name: string): boolean {
  const first = name.charCodeAt(0);
  return first === 46 || first === 103 || first === 71 || first > 127;
}

function split(path: string): string[] {
  return path === '' ? [] : path.split('/');
}
