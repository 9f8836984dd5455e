/**
 * Swaps a folder for a link to another one and back, as fast as it can, until its input ends; then says
 * how often.   node swapper.mjs FOLDER OUTSIDE
 */
import { lstatSync, renameSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

const [folder, outside] = process.argv.slice(2);
let swaps = 0;
let ended = false;
process.stdin.on('end', () => (ended = true)).resume();

/** Both states last for a while, of any length: a swap can then meet every step of the other side. */
function linger() {
  for (const end = performance.now() + Math.random() * 0.4; performance.now() < end;);
}

function swap() {
  const away = `${folder}.away`;
  try {
    linger();
    renameSync(folder, away);
    symlinkSync(outside, folder);
    linger();
    unlinkSync(folder);
    renameSync(away, folder);
    swaps += 1;
  } catch {
    // The other side made the folder anew while it was away: drop one of the two and go on.
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(folder);
    rmSync(away, { recursive: true, force: true });
  }
}

function round() {
  for (let count = 0; count < 50; count += 1) swap();
  if (ended) console.log(swaps);
  else setImmediate(round);
}

console.log('ready');
round();
