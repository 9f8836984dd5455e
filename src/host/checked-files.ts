import type { CheckedFiles } from '../core/ports.js';

/** Each by its name below the state folder, with what says why it is not as written. */
export function createCheckedFiles(
  files: Readonly<Record<string, () => string | undefined>>,
): CheckedFiles {
  return {
    check() {
      const found = Object.entries(files).map(([file, why]) => ({ file, detail: why() }));
      const damaged = found.flatMap(({ file, detail }) => {
        return detail === undefined ? [] : [{ file, detail }];
      });
      return Promise.resolve({ files: found.length, damaged });
    },
  };
}
