import { compilePatterns } from './patterns.js';

/** Tests whole paths against patterns in gitignore syntax, parents included. */
export function createPathMatch(patterns: readonly string[]): (path: string) => boolean {
  const { top } = compilePatterns(patterns.join('\n'), { source: 'settings', ignoreCase: false });
  return (path) => {
    const parts = path.split('/');
    let view = top;
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const hit = view.match(part, !isLast);
      if (hit !== undefined && !hit.negated) return true;
      view = view.enter(part);
    }
    return false;
  };
}

/** A pattern that means this path. The end of a line cannot be written in one: any sign may be there. */
export function literalPattern(path: string): string {
  return `/${path.replace(/[\\*?[\] ]/gu, String.raw`\$&`).replace(/[\r\n]/gu, '?')}`;
}
