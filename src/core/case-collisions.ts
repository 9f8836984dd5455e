import type { Path } from './model.js';

/** What a disk without case, or one that composes accents, makes of a name. */
export function foldName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/**
 * Groups of paths that such a disk takes for one: two files, or a file and a folder. Two spellings
 * of a folder alone are no loss: their contents share it.
 */
export function caseCollisions(files: Iterable<Path>): Path[][] {
  const spellings = new Map<string, { names: Set<Path>; hasFile: boolean }>();
  const add = (name: Path, isFile: boolean) => {
    const folded = foldName(name);
    const known = spellings.get(folded) ?? { names: new Set(), hasFile: false };
    known.names.add(name);
    known.hasFile ||= isFile;
    spellings.set(folded, known);
  };
  const folders = new Set<Path>();
  for (const file of files) {
    add(file, true);
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) {
      const folder = file.slice(0, end) as Path;
      if (folders.has(folder)) break;
      folders.add(folder);
      add(folder, false);
    }
  }
  return [...spellings.values()]
    .filter(({ names, hasFile }) => hasFile && names.size > 1)
    .map(({ names }) => [...names].sort());
}
