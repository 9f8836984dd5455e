import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Answer } from '../../api/table.js';
import { findRoot } from '../../host/find-root.js';
import { replaceFile } from '../../host/small-files.js';
import { statePaths } from '../../host/state-folder.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import type { Around } from '../local-run.js';
import { printableJson } from '../text.js';

/**
 * Opens the viewer. The browser's command line can be read by everybody on the machine, so it names
 * a file of ours that leads on to the address; the address itself works once.
 */
export async function open(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const { print = false } = read(words);
  const answer = (await callDaemon(globals, 'viewer_url', {})) as Answer<'viewer_url'>;
  if (globals.json) process.stdout.write(printableJson(answer));
  else if (print === true || !(await openBrowser(globals, answer.url))) {
    process.stdout.write(`${answer.url}\n`);
  }
  return 0;
}

/** False when there is no browser to be found. */
async function openBrowser(globals: GlobalFlags, url: string): Promise<boolean> {
  const file = join(statePaths(findRoot(globals.root, process.cwd())).run, 'open.html');
  // The address is ours: a host, a port and letters of base64url.
  replaceFile(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${url}">\n`);
  const [program, ...before] = OPENERS[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program ?? '', [...before, file], { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['explorer'],
};
