/** A watcher in a process of its own, and what happens to it from outside. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const CHILD = fileURLToPath(new URL('./watch-child.mjs', import.meta.url));

export const blobId = (text) =>
  createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex');

/** Resolves when everything is known; `end` must be called. */
export async function watchInProcess(root, maxFileBytes = 1_000_000) {
  const child = spawn(process.execPath, [CHILD, root, String(maxFileBytes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The watcher died.');
    return value;
  };
  await next();
  return {
    /** Settles, and tells all there is to tell. */
    async ask() {
      child.stdin.write('now\n');
      return JSON.parse(await next());
    },
    signal: (name) => child.kill(name),
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const over = once(child, 'exit');
      child.kill('SIGKILL');
      await over;
    },
  };
}

/** Stops the watcher, makes `count` files, changes one, lets it go on, and says what it makes of it. */
export async function changeWhileStopped(root, count, folders = 50) {
  for (let folder = 0; folder < folders; folder += 1) mkdirSync(`${root}/d${folder}`);
  writeFileSync(`${root}/last`, 'before');
  const watching = await watchInProcess(root);
  try {
    watching.signal('SIGSTOP');
    const expected = new Map();
    for (let index = 0; index < count; index += 1) {
      const path = `d${index % folders}/f${index}`;
      writeFileSync(`${root}/${path}`, String(index));
      expected.set(path, blobId(String(index)));
    }
    // By now the queue may be full.
    writeFileSync(`${root}/last`, 'after');
    expected.set('last', blobId('after'));
    watching.signal('SIGCONT');
    const { fresh, notices, entries } = await watching.ask();
    const known = new Map(entries);
    const missed = [...expected].filter(([path, hash]) => known.get(path) !== hash);
    return { fresh, notices, known: known.size, missed: missed.map(([path]) => path) };
  } finally {
    await watching.end();
  }
}
