import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Hash } from '../core/model.js';
import { packageFile } from '../core/package-file.js';
import { joined, type DeflateReply, type DeflateRequest, type Places } from './deflate-wire.js';

/** No content is at fault: whoever asked can do it without them. */
export class ThreadsGone extends Error {
  override readonly name = 'ThreadsGone';
}

export interface DeflateThreads {
  /** How many batches keep all of them busy. */
  readonly atOnce: number;
  /** @throws ThreadsGone */
  deflate(contents: readonly Uint8Array[], hashes: readonly Hash[]): Promise<DeflateReply>;
  /** The same with files that the thread reads. @throws ThreadsGone */
  readAndDeflate(files: Places, hashes: readonly Hash[]): Promise<DeflateReply>;
  end(): void;
}

interface Waiting {
  readonly resolve: (reply: DeflateReply) => void;
  readonly reject: (error: Error) => void;
}

/** The thread that reads needs a processor too, but waits for the disk now and then. */
const THREADS = Math.min(4, availableParallelism());
/** One being worked on, one on its way. */
const IN_FLIGHT = 2;

export function startDeflateThreads(): DeflateThreads {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let failure: ThreadsGone | undefined;
  const fail = (): void => {
    failure ??= new ThreadsGone();
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  };
  const workers = Array.from({ length: THREADS }, () => {
    const worker = new Worker(packageFile('dist/git/deflate-worker.js'));
    worker.on('message', (reply: DeflateReply) => {
      waiting.get(reply.id)?.resolve(reply);
      waiting.delete(reply.id);
    });
    worker.on('error', fail);
    worker.on('exit', fail);
    worker.unref();
    return worker;
  });

  function ask(request: DeflateRequest, handedOver: readonly ArrayBuffer[]): Promise<DeflateReply> {
    if (failure !== undefined) return Promise.reject(failure);
    return new Promise((resolve, reject) => {
      waiting.set(request.id, { resolve, reject });
      workers[request.id % THREADS]?.postMessage(request, handedOver);
    });
  }

  return {
    atOnce: THREADS * IN_FLIGHT,
    deflate(contents, hashes) {
      const pieces = joined(contents);
      return ask({ id: ++lastId, hashes, ...pieces }, [pieces.bytes.buffer]);
    },
    readAndDeflate: (files, hashes) => ask({ id: ++lastId, hashes, ...files }, []),
    end() {
      for (const worker of workers) void worker.terminate();
    },
  };
}
