import { chmodSync, existsSync, lstatSync, statfsSync } from 'node:fs';
import type { Check, Diagnostics } from '../core/ports.js';
import { describeGit, findGit } from './git-program.js';
import { requirePrivate, whyUnsafe, type StatePaths } from './state-folder.js';

export interface DiagnosticsDeps {
  readonly paths: StatePaths;
  readonly address: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Below this much free space a checkpoint of an ordinary project may not fit. */
const LITTLE_SPACE = 256 * 1024 * 1024;

/** The checks of `doctor` that concern the machine and our own files. */
export function createDiagnostics({ paths, address, environment }: DiagnosticsDeps): Diagnostics {
  return {
    async run(repair) {
      const git = await describeGit(findGit(environment), environment);
      return [
        checkFolder(paths, repair),
        ...[paths.daemon, paths.token, paths.log].map((file) => checkPrivateFile(file, repair)),
        checkSocket(address),
        { name: 'git', ...git },
        checkSpace(paths.state),
      ];
    },
  };
}

function checkFolder(paths: StatePaths, repair: boolean): Check {
  const name = 'state folder';
  for (const folder of [paths.state, paths.run]) {
    const stat = lstatSync(folder);
    const why = whyUnsafe(stat);
    if (why !== undefined) return { name, ok: false, detail: `${folder} ${why}` };
    if ((stat.mode & 0o077) === 0) continue;
    if (!repair) return { name, ok: false, detail: `${folder} can be read by others` };
    requirePrivate(folder);
    return { name, ok: true, detail: `closed ${folder} to others`, repaired: true };
  }
  return { name, ok: true, detail: `${paths.state} is private` };
}

function checkPrivateFile(file: string, repair: boolean): Check {
  const name = file.slice(file.lastIndexOf('/') + 1);
  if (!existsSync(file))
    return { name, ok: false, detail: `${file} is missing; restart the daemon` };
  if (process.platform === 'win32' || (lstatSync(file).mode & 0o077) === 0) {
    return { name, ok: true, detail: 'readable by its owner only' };
  }
  if (!repair) return { name, ok: false, detail: `${file} can be read by others` };
  chmodSync(file, 0o600);
  return { name, ok: true, detail: `closed ${file} to others`, repaired: true };
}

function checkSocket(address: string): Check {
  const isThere = process.platform === 'win32' || existsSync(address);
  return { name: 'socket', ok: isThere, detail: isThere ? address : `${address} is missing` };
}

function checkSpace(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const detail = `${Math.floor(free / 1024 / 1024)} MiB free`;
  return { name: 'disk space', ok: free >= LITTLE_SPACE, detail };
}
