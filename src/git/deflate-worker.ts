import { closeSync, constants, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { isContentOf } from './blobs.js';
import { joined, parted, type DeflateReply, type DeflateRequest } from './deflate-wire.js';
import { toHurriedEntry, type PackEntry } from './pack-file.js';

// A pipe or a folder that took a file's place is an error of `read`, and nothing is waited for.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** One file after the other. */
let buffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Thread for a first checkpoint: checks contents against their names and makes entries of them. */
parentPort?.on('message', (request: DeflateRequest) => {
  const entries: PackEntry[] = [];
  const wrong: number[] = [];
  let number = 0;
  for (const content of contentsOf(request)) {
    const hash = request.hashes[number];
    if (hash !== undefined && content !== undefined && isContentOf(content, hash)) {
      entries.push(toHurriedEntry(hash, content));
    } else wrong.push(number);
    number += 1;
  }
  const pieces = joined(entries.map(({ bytes }) => bytes));
  const crcs = entries.map(({ crc }) => crc);
  const reply: DeflateReply = { id: request.id, ...pieces, crcs, wrong };
  parentPort?.postMessage(reply, [pieces.bytes.buffer]);
});

function* contentsOf(request: DeflateRequest): Generator<Uint8Array | undefined> {
  if ('bytes' in request) yield* parted(request);
  else
    for (const [at, place] of request.places.entries()) yield read(place, request.sizes[at] ?? 0);
}

/** Valid until the next one. */
function read(place: string, size: number): Uint8Array | undefined {
  // One byte more, so that a file that grew is seen to be another one.
  if (buffer.length <= size) buffer = Buffer.allocUnsafeSlow(size + 1);
  try {
    const file = openSync(place, READ);
    try {
      return buffer.subarray(0, readSync(file, buffer, 0, size + 1, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
