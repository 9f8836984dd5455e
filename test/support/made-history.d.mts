/** Makes a repository in an empty folder: renames, modes, links, binary files, merges, submodule pointers. */
export function makeHistory(
  folder: string,
  options: { readonly commits: number; readonly seed: number },
): void;
