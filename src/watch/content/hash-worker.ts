import { parentPort } from 'node:worker_threads';
import { decodeRequest, encodeReply } from './hash-wire.js';
import { readContent } from './content.js';

/** Thread for bulk reading: takes lists of files, answers with compact arrays. */
parentPort?.on('message', (message: unknown) => {
  const request = decodeRequest(message);
  const readings = request.paths.map((path) => readContent(path, request.maxBytes));
  const reply = encodeReply(request.id, readings);
  parentPort?.postMessage(reply, [reply.numbers.buffer]);
});
