/**
 * Changes a tree at random, for ever or for a number of steps, and says when it is done. The same
 * seed makes the same choices; what they meet on disk depends on the other writers.
 *
 * argv: root, seed. stdin: "<steps>\n" starts that many; stdout: "done\n" after them.
 */
import fs from 'node:fs';
import { createInterface } from 'node:readline';

const [root, seed] = [process.argv[2], Number(process.argv[3])];
let state = seed >>> 0 || 1;

function random(below) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  state >>>= 0;
  return state % below;
}

const pick = (list) => list[random(list.length)];
const FOLDERS = ['a', 'b', 'c', 'd é', 'e'];
const FILES = ['f', 'g', 'h.txt', '-i', 'j k', 'l\u0301', 'ĺ', 'm"n', 'o\np'];

function folder() {
  let path = root;
  for (let depth = random(4); depth > 0; depth -= 1) path += `/${pick(FOLDERS)}`;
  return path;
}

const file = () => `${folder()}/${pick(FILES)}`;
const any = () => (random(3) === 0 ? folder() : file());
const text = () => `${random(1000)}\n`.repeat(1 + random(random(20) === 0 ? 60_000 : 5));
let temp = 0;

const STEPS = [
  () => fs.mkdirSync(folder(), { recursive: true }),
  () => fs.mkdirSync(`${folder()}/${pick(FOLDERS)}/${pick(FOLDERS)}`, { recursive: true }),
  () => fs.writeFileSync(file(), text()),
  () => fs.writeFileSync(file(), text()),
  () => fs.writeFileSync(file(), text()),
  () => fs.appendFileSync(file(), text()),
  () => {
    // Open for a while: the name may be gone, or another's, by the time of the write.
    const fd = fs.openSync(file(), pick(['w', 'r+']));
    try {
      for (let look = random(300); look > 0; look -= 1) fs.fstatSync(fd);
      fs.writeSync(fd, text());
    } finally {
      fs.closeSync(fd);
    }
  },
  () => fs.truncateSync(file(), random(10)),
  () => {
    // Same size, and the old time put back: only ctime tells.
    const path = file();
    const before = fs.statSync(path);
    fs.writeFileSync(path, String(random(10)).repeat(before.size));
    fs.utimesSync(path, before.atime, before.mtime);
  },
  () => fs.renameSync(file(), file()),
  () => fs.renameSync(any(), any()),
  () => fs.renameSync(folder(), folder()),
  () => {
    // An editor's save.
    const draft = `${root}/.save-${seed}-${(temp += 1)}`;
    fs.writeFileSync(draft, text());
    try {
      fs.renameSync(draft, file());
    } finally {
      fs.rmSync(draft, { force: true });
    }
  },
  () => fs.rmSync(file()),
  () => {
    const path = any();
    if (path !== root && random(4) === 0) fs.rmSync(path, { recursive: true });
  },
  () => fs.chmodSync(file(), random(2) === 0 ? 0o644 : 0o755),
  () => fs.symlinkSync(pick(['f', '../a', '/nowhere', 'loop']), file()),
  () => fs.linkSync(file(), file()),
  () => {
    const path = file();
    fs.rmSync(path);
    fs.mkdirSync(path);
    fs.writeFileSync(`${path}/${pick(FILES)}`, text());
  },
  () => {
    const path = folder();
    if (path === root) return;
    fs.rmSync(path, { recursive: true });
    fs.writeFileSync(path, text());
  },
  () => {
    if (random(5) > 0) return;
    fs.writeFileSync(
      `${folder()}/.gitignore`,
      pick(['', 'g\n', 'b/\n', '*.txt\n!h.txt\n', '/f\n']),
    );
  },
  () => fs.rmSync(`${folder()}/.gitignore`),
];

function step() {
  try {
    pick(STEPS)();
  } catch {
    // Most choices meet nothing, or the wrong thing: that is part of the game.
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  for (let left = Number(line); left > 0; left -= 1) step();
  process.stdout.write('done\n');
}
