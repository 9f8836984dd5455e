/** A project that looks like source code: 100 folders of 100 folders, files of 0.5 to 6 KB. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const WORDS =
  'const value return export function import from await async if for map filter string number null index result'.split(
    ' ',
  );

export const pathOf = (number) =>
  `src-${number % 100}/part-${Math.floor(number / 100) % 100}/file-${number}.ts`;

/** A version differs from the one before it in one line, as an edit does. */
export function contentOf(number, version) {
  let state = number * 2654435761 + 1;
  const next = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
  const lines = Array.from({ length: 15 + next(150) }, (_, line) => {
    const words = Array.from({ length: 2 + next(8) }, () => WORDS[next(WORDS.length)]);
    return `${words.join(' ')} = ${line}_${next(100_000)};`;
  });
  if (version > 0) lines[version % lines.length] = `const edited = '${version}-${number}';`;
  return `${lines.join('\n')}\n`;
}

export function makeTree(root, files) {
  const made = new Set();
  for (let number = 0; number < files; number++) {
    const path = join(root, pathOf(number));
    const folder = dirname(path);
    if (!made.has(folder)) mkdirSync(folder, { recursive: true });
    made.add(folder);
    writeFileSync(path, contentOf(number, 0));
  }
}

/** Writes one version of so many files, spread over the tree; answers their numbers. */
export function edit(root, files, { count, version, from = 0 }) {
  const stride = Math.max(1, Math.floor(files / count));
  const numbers = Array.from({ length: count }, (_, at) => (from + at * stride) % files);
  return write(root, numbers, version);
}

/** The same with the files of whole folders: of a tree large enough each part has its own. */
export function editPart(root, files, { count, part, version }) {
  const folders = Math.ceil((100 * count) / files);
  const first = (part % Math.floor(100 / folders)) * folders;
  const numbers = Array.from({ length: files }, (_, number) => number).filter((number) => {
    const folder = number % 100;
    return folder >= first && folder < first + folders;
  });
  return write(root, numbers.slice(0, count), version);
}

function write(root, numbers, version) {
  for (const number of numbers)
    writeFileSync(join(root, pathOf(number)), contentOf(number, version));
  return numbers;
}
