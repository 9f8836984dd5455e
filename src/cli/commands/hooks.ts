import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from '../../config.js';
import { safeEnvironment } from '../../core/environment.js';
import { SmithyError } from '../../core/errors.js';
import { packageFile } from '../../core/package-file.js';
import { findGit } from '../../host/git-program.js';
import {
  hookReports,
  installHooks,
  uninstallHooks,
  type HookReport,
} from '../../host/hook-files.js';
import { findRepository, type Repository } from '../../host/repository.js';
import type { GlobalFlags } from '../args.js';
import type { LocalRun } from '../local-run.js';
import { columns, printable, printableJson } from '../text.js';

export const install = command((folder, script) => installHooks(folder, script));
export const uninstall = command((folder) => uninstallHooks(folder));
export const status = command(() => undefined);

/** Does something to the hooks and tells how they are then. */
function command(act: (folder: string, script: string) => void): LocalRun {
  return async (globals, words, { read }) => {
    read(words);
    const repository = await repositoryOf(globals);
    const script = hookScript();
    act(repository.hooks, script);
    const hooks = hookReports(repository.hooks, script);
    const { hooks: folder, belongs, top } = repository;
    if (globals.json)
      process.stdout.write(printableJson({ repository: top, folder, belongs, hooks }));
    else process.stdout.write(describe(repository, hooks));
    return 0;
  };
}

/** The one the command is called in: a submodule has hooks of its own, whatever project it is in. */
function repositoryOf({ root }: GlobalFlags): Promise<Repository> {
  const folder = root ?? process.cwd();
  const environment = safeEnvironment(processEnvironment, folder);
  const program = findGit(environment);
  if (program === undefined) {
    throw new SmithyError('INVALID_PARAMS', 'git was not found.', { hint: 'Install git.' });
  }
  return findRepository(folder, { program, environment });
}

/** With the places of Node and of what it runs: hooks see a PATH that is anybody's guess. */
function hookScript(): string {
  const text = readFileSync(packageFile('hooks/hook.sh'), 'latin1');
  return text
    .replace("'@NODE@'", () => quoted(process.execPath))
    .replace("'@ENTRY@'", () => quoted(fileURLToPath(packageFile('dist/cli/git-hook.js'))));
}

/** For the shell, as the bytes it is in a file name. */
function quoted(path: string): string {
  const bytes = Buffer.from(path).toString('latin1');
  return `'${bytes.replaceAll("'", String.raw`'\''`)}'`;
}

const STATES = {
  installed: 'in place',
  outdated:
    'in place, written by another installation; `smithyd hooks install` brings it up to date',
  replaced: 'replaced by another tool; `smithyd hooks install` puts it back before that one',
  missing: 'not in place',
} as const;

function describe({ hooks: folder, belongs }: Repository, hooks: readonly HookReport[]): string {
  const rows = hooks.map(({ name, state, chained }) => {
    return [name, `${STATES[state]}${chained ? ', then the hook from before' : ''}`] as const;
  });
  const isInUse = hooks.some(({ state }) => state !== 'missing');
  const note = isInUse ? NOTES[belongs] : '';
  return `Hooks in ${printable(folder)}:\n${columns(rows, '  ')}\n${note}`;
}

const NOTES: Readonly<Record<Repository['belongs'], string>> = {
  git: '',
  files: 'The folder is among the files of the repository: leave our hooks out of your commits.\n',
  elsewhere: 'The folder is outside of the repository: others may use the same hooks.\n',
};
