/** Modules are bundled, so none of them knows its own place; below this folder all of them lie. */
const ROOT = import.meta.url.replace(/(.*\/)(?:dist|src)\/.*$/u, '$1');

/** Run by ts-node or a test: what was built may be older. */
export const isSource = import.meta.url.endsWith('/src/core/package-file.ts');

/** Something that comes with the package, by its path in there. */
export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}
