import { existsSync } from 'node:fs';
import { judgeBinding } from '../core/root-binding.js';
import { openJsonFile } from './json-file.js';
import { statePaths, type StatePaths } from './state-folder.js';

/** Why the name of the root is not what a start has written. */
export function whyBindingDamaged(paths: StatePaths, root: string): string | undefined {
  const file = openJsonFile(paths.binding);
  if (!file.isThere()) return undefined;
  const { root: bound } = Object(file.read()) as { root?: unknown };
  return bound === root ? undefined : 'it does not name this root';
}

/** Throws for a state folder of another root; names this one as its root when it has none yet. */
export function bindState(paths: StatePaths, root: string, rebind: boolean): void {
  const file = openJsonFile(paths.binding);
  const { root: bound } = Object(file.read()) as { root?: unknown };
  const verdict = judgeBinding({
    root,
    state: paths.state,
    rebind,
    ...(typeof bound === 'string'
      ? { bound, isOriginalThere: existsSync(statePaths(bound).binding) }
      : { bound: undefined, isOriginalThere: false }),
  });
  if (verdict === 'bind') file.write({ root });
}
