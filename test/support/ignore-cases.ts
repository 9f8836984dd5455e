/** Seeded ignore files and trees for comparing our rules with git's. */

export type Random = () => number;

/** A small deterministic generator: the seed on a failure message replays the case. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface IgnoreCase {
  readonly ignoreCase: boolean;
  /** Folder ('' is the root) to the text of its `.gitignore`. */
  readonly ignoreFiles: ReadonlyMap<string, string>;
  readonly infoExclude: string;
  readonly globalExcludes: string;
  readonly directories: readonly string[];
  readonly files: readonly string[];
}

const NAMES = (
  'a b c ab abc foo bar foo.c foo.o bar.log x.log a.b.c A Foo FOO.C .hid .x build logs src lib ' +
  'aXb a-b a_b a]b a[b a*b a?b a!b #a !a a\\b é ü日 日本 z~ 0 1a [a] - ^ ~ a,b {a,b} $x (x) x+y'
).split(' ');
const ODD_NAMES = [
  'a b',
  'a ',
  ' a',
  'foo ',
  'a\tb',
  'tab\t',
  ' ',
  'a\r',
  '\ufeffa',
  '\u00a0',
  '\\',
];

const SPECIALS = (
  '* ** *** ? [ab] [!a] [^a] [a-c] [a-] [-a] []] []a] [!]a] [[:alpha:]] [[:upper:]] [[:lower:]] ' +
  '[[:digit:]] [[:space:]] [[:punct:]] [[:nope:]] [[:alpha:] [[:a] [A-Z] [z-a] [A] \\a \\A \\* \\? ' +
  '\\[ \\\\ \\! \\# \\/ [\\]] [a\\-c] [\\\\] [a [ ] a[ *.c *.* .* ?? a* *a *a* a?c [é] ?? ??? ' +
  '[/] [a/b] [!/] [+-9] [0-9a] [[:xdigit:]x] [[:print:]] [[:graph:]] [[:cntrl:]] [[:blank:]] [] [!] ' +
  '** **/ /** **a a** *** */ /* //'
).split(' ');

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[Math.floor(random() * items.length)] as Item;
const chance = (random: Random, probability: number): boolean => random() < probability;

function namePart(random: Random): string {
  return chance(random, 0.08) ? pick(random, ODD_NAMES) : pick(random, NAMES);
}

function patternPart(random: Random): string {
  const roll = random();
  if (roll < 0.35) return namePart(random);
  if (roll < 0.5) return `*${pick(random, ['.c', '.log', '.o', 'b', 'o', '~', ''])}`;
  if (roll < 0.58) return '**';
  let part = '';
  for (let count = 1 + Math.floor(random() * 3); count > 0; count -= 1) {
    part += chance(random, 0.5) ? pick(random, SPECIALS) : namePart(random);
  }
  return part;
}

function pattern(random: Random): string {
  const parts = Array.from({ length: pick(random, [1, 1, 1, 1, 2, 2, 3, 4]) }, () =>
    patternPart(random),
  );
  let line = parts.join('/');
  if (chance(random, 0.15)) line = `/${line}`;
  if (chance(random, 0.08)) line = `**/${line}`;
  if (chance(random, 0.2)) line += '/';
  if (chance(random, 0.06)) line += '/**';
  if (chance(random, 0.05)) line += '/*';
  if (chance(random, 0.25)) line = `!${line}`;
  if (chance(random, 0.05)) line += pick(random, [' ', '  ', '\\ ', '\\  ', '\t', '\\', '\\\\ ']);
  if (chance(random, 0.02))
    line = pick(random, ['#c', '\\#a', '\\!a', '', ' ', '/', '!', '//', '!/']);
  return line;
}

function ignoreText(random: Random): string {
  const ending = chance(random, 0.15) ? '\r\n' : '\n';
  const lines = Array.from({ length: 1 + Math.floor(random() * 6) }, () => pattern(random));
  const text = lines.join(ending) + (chance(random, 0.7) ? ending : '');
  return chance(random, 0.06) ? `\ufeff${text}` : text;
}

/** A path made to come near a pattern: its wildcards filled in. */
function nearPath(random: Random, line: string): string {
  return line
    .replace(/^!/u, '')
    .replace(/\*\*/gu, () => pick(random, ['a', 'a/b', 'foo', 'src/lib']))
    .replace(/\*/gu, () => pick(random, ['', 'a', 'x', 'foo']))
    .replace(/\?/gu, () => pick(random, ['a', 'b', 'é']))
    .replace(/\[[^\]]*\]+/gu, () => pick(random, ['a', 'b', ']', 'A', '-']))
    .replace(/\\(.)/gu, '$1')
    .replace(/[ \t\r]+$/u, '');
}

function usable(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  if (parts.length === 0 || parts.length > 6) return undefined;
  if (parts.some((part) => /^\.git/iu.test(part) || part.includes('\0'))) return undefined;
  return parts.join('/');
}

// eslint-disable-next-line complexity -- one generator, read from top to bottom
export function randomCase(random: Random, paths: number): IgnoreCase {
  const directories = new Set<string>();
  const files = new Set<string>();
  const addFolders = (path: string): boolean => {
    const parts = path.split('/');
    for (let count = 1; count <= parts.length; count += 1) {
      const folder = parts.slice(0, count).join('/');
      if (files.has(folder)) return false;
      directories.add(folder);
    }
    return true;
  };
  for (let count = 0; count < 6; count += 1) {
    const path = usable(
      Array.from({ length: pick(random, [1, 1, 2, 3]) }, () => namePart(random)).join('/'),
    );
    if (path !== undefined) addFolders(path);
  }
  const ignoreFiles = new Map([['', ignoreText(random)]]);
  for (const folder of directories) {
    if (chance(random, 0.3)) ignoreFiles.set(folder, ignoreText(random));
  }
  const lines = [...ignoreFiles].flatMap(([folder, text]) =>
    text.split(/\r?\n/u).map((line) => `${folder}/${nearPath(random, line)}`),
  );
  for (let tries = 0; files.size + directories.size < paths && tries < paths * 4; tries += 1) {
    const folder = chance(random, 0.6) ? `${pick(random, ['', ...directories])}/` : '';
    const near = chance(random, 0.5) ? pick(random, lines) : `${folder}${namePart(random)}`;
    const path = usable(chance(random, 0.15) ? `${near}/${namePart(random)}` : near);
    if (path === undefined || directories.has(path) || files.has(path)) continue;
    if (chance(random, 0.35)) {
      addFolders(path);
      continue;
    }
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (parent === '' || addFolders(parent)) files.add(path);
  }
  return {
    ignoreCase: chance(random, 0.25),
    ignoreFiles,
    infoExclude: chance(random, 0.3) ? ignoreText(random) : '',
    globalExcludes: chance(random, 0.3) ? ignoreText(random) : '',
    directories: [...directories],
    files: [...files],
  };
}

/** The tree of a project that comes near every line of its ignore file, at several depths. */
export function projectCase(random: Random, text: string): IgnoreCase {
  const directories = new Set<string>();
  const files = new Set<string>();
  const lines = text.split('\n').filter((line) => line !== '');
  for (const line of lines.flatMap((given) => [given, given, given, given])) {
    const base = pick(random, ['', 'app/', 'src/main/', 'Assets/', 'packages/x/']);
    const below = pick(random, ['', '/a.md', '/sub/keep.txt', '/.keep']);
    const wanted = usable(`${base}${nearPath(random, line)}${below}`);
    if (wanted === undefined || directories.has(wanted)) continue;
    const parts = wanted.split('/');
    const parents = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
    if (parents.some((parent) => files.has(parent))) continue;
    for (const parent of parents) directories.add(parent);
    if (chance(random, 0.4)) directories.add(wanted);
    else files.add(wanted);
  }
  return {
    ignoreCase: chance(random, 0.2),
    ignoreFiles: new Map([['', text]]),
    infoExclude: '',
    globalExcludes: '*.swp\n.DS_Store\n*~\n',
    directories: [...directories].filter((folder) => !files.has(folder)),
    files: [...files],
  };
}
