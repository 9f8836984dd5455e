/**
 * The floor under a durable checkpoint: the same objects hashed, deflated and written in process as
 * one small pack with its index and ref, everything flushed, nothing else done.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';

const TYPES = { commit: 1, tree: 2, blob: 3 };

/** Everything that one commit added, as type and bytes. */
export function objectsOf({ git, checkpoints, tip, env }) {
  const run = (input, ...args) =>
    execFileSync(git, args, { cwd: checkpoints, env, input, maxBuffer: 2 ** 30 });
  const listed = run('', 'rev-list', '--objects', tip, '--not', `${tip}^`).toString().trim();
  const ids = listed.split('\n').map((line) => line.slice(0, 40));
  const answer = run(`${ids.join('\n')}\n`, 'cat-file', '--batch');
  const objects = [];
  for (let at = 0; at < answer.length;) {
    const end = answer.indexOf(0x0a, at);
    const [, type, size] = answer.toString('utf8', at, end).split(' ');
    const bytes = answer.subarray(end + 1, end + 1 + Number(size));
    objects.push({ type, bytes });
    at = end + 1 + Number(size) + 1;
  }
  return objects;
}

export function createFloor(folder, objects) {
  const packs = join(folder, 'objects/pack');
  const heads = join(folder, 'refs/heads');
  for (const path of [packs, heads]) fs.mkdirSync(path, { recursive: true });
  let number = 0;

  /** The right amount of hashing and deflating; the ids inside the trees are left as they are. */
  function encode(salt) {
    const ids = [];
    const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    head.writeUInt32BE(objects.length, 8);
    const parts = [head];
    for (const { type, bytes } of objects) {
      const changed = Buffer.from(bytes);
      changed.write(String(salt), Math.max(0, changed.length - 12));
      const id = createHash('sha1').update(`${type} ${changed.length}\0`).update(changed).digest();
      ids.push(id);
      const start = [(TYPES[type] << 4) | (changed.length & 15)];
      for (let size = changed.length >> 4; size > 0; size >>= 7) {
        start[start.length - 1] |= 128;
        start.push(size & 127);
      }
      parts.push(Buffer.from(start), deflateSync(changed));
    }
    const body = Buffer.concat(parts);
    const sum = createHash('sha1').update(body).digest();
    const index = Buffer.concat([
      Buffer.alloc(8 + 1024),
      ...ids.sort(Buffer.compare),
      Buffer.alloc(8 * ids.length),
      sum,
    ]);
    return {
      pack: Buffer.concat([body, sum]),
      index: Buffer.concat([index, createHash('sha1').update(index).digest()]),
    };
  }

  function write(path, bytes) {
    const file = fs.openSync(path, 'wx');
    fs.writeSync(file, bytes);
    fs.fsyncSync(file);
    fs.closeSync(file);
  }

  function flush(path) {
    const handle = fs.openSync(path, 'r');
    fs.fsyncSync(handle);
    fs.closeSync(handle);
  }

  return {
    write(salt) {
      const { pack, index } = encode(salt);
      const name = join(packs, `pack-${++number}`);
      write(`${name}.pack`, pack);
      write(`${name}.idx`, index);
      flush(packs);
      write(join(heads, 'main.lock'), `${'a'.repeat(40)}\n`);
      fs.renameSync(join(heads, 'main.lock'), join(heads, 'main'));
      flush(heads);
    },
  };
}
