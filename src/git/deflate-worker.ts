import { parentPort } from 'node:worker_threads';
import { isContentOf } from './blobs.js';
import { joined, parted, type DeflateReply, type DeflateRequest } from './deflate-wire.js';
import { toHurriedEntry, type PackEntry } from './pack-file.js';

/** Thread for a first checkpoint: checks contents against their names and makes entries of them. */
parentPort?.on('message', (request: DeflateRequest) => {
  const entries: PackEntry[] = [];
  const wrong: number[] = [];
  let number = 0;
  for (const content of parted(request)) {
    const hash = request.hashes[number];
    if (hash !== undefined && isContentOf(content, hash)) {
      entries.push(toHurriedEntry(hash, content));
    } else wrong.push(number);
    number += 1;
  }
  const pieces = joined(entries.map(({ bytes }) => bytes));
  const crcs = entries.map(({ crc }) => crc);
  const reply: DeflateReply = { id: request.id, ...pieces, crcs, wrong };
  parentPort?.postMessage(reply, [pieces.bytes.buffer]);
});
