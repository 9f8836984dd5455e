import { compilePatterns, type PatternView } from './patterns.js';

/**
 * Whether the ignore files of a checkpoint leave a path out. A file that was ignored then is absent
 * from the checkpoint without ever having been deleted: a restore must not delete it either.
 */
export function ignoredAt(
  path: string,
  ignoreFileOf: (folder: string) => string | undefined,
): boolean {
  const parts = path.split('/');
  /** Deepest first, each as seen from the present folder. */
  let views: PatternView[] = [];
  let folder = '';
  for (const [index, part] of parts.entries()) {
    const text = ignoreFileOf(folder);
    if (text !== undefined) {
      views = [compilePatterns(text, { source: '.gitignore', ignoreCase: false }).top, ...views];
    }
    const isDirectory = index < parts.length - 1;
    const hit = firstHit(views, part, isDirectory);
    if (hit) return true;
    views = views.map((view) => view.enter(part));
    folder = folder === '' ? part : `${folder}/${part}`;
  }
  return false;
}

function firstHit(views: readonly PatternView[], name: string, isDirectory: boolean): boolean {
  for (const view of views) {
    const pattern = view.match(name, isDirectory);
    if (pattern !== undefined) return !pattern.negated;
  }
  return false;
}
