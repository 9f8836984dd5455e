import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { packageFile } from '../../core/package-file.js';
import type { Log } from '../../core/ports.js';
import type { Reading } from './content.js';
import { decodeReading, type HashReply } from './hash-wire.js';

// More than two readers gain nothing on one disk and cost 10 MB each.
const THREADS = Math.min(2, availableParallelism());
// Two batches per thread: one being read, one waiting, so that a thread never idles between.
const IN_FLIGHT = 2;
const IDLE_MS = 2_000;

interface Batch {
  readonly paths: readonly string[];
  readonly maxBytes: number;
  readonly done: (readings: readonly Reading[] | undefined) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly batches: Map<number, Batch>;
}

/** Threads that read and hash; they start with the first batch and end when idle. */
export class HashPool {
  readonly #log: Log;
  #threads: Thread[] = [];
  #nextId = 1;
  #broken = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(log: Log) {
    this.#log = log;
  }

  /** False when every thread has enough to do, or threads cannot be had at all. */
  get hasRoom(): boolean {
    if (this.#broken) return false;
    if (this.#threads.length < THREADS) return true;
    return this.#threads.some((thread) => thread.batches.size < IN_FLIGHT);
  }

  get isBroken(): boolean {
    return this.#broken;
  }

  /** `done` gets undefined when the thread died: read those files another way. */
  run(batch: Batch): void {
    clearTimeout(this.#idle);
    const thread = this.#roomiest();
    if (thread === undefined) {
      batch.done(undefined);
      return;
    }
    const id = this.#nextId++;
    thread.batches.set(id, batch);
    thread.worker.postMessage({ id, paths: batch.paths, maxBytes: batch.maxBytes });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const threads = this.#threads;
    this.#threads = [];
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #roomiest(): Thread | undefined {
    const free = this.#threads.find((thread) => thread.batches.size === 0);
    if (free !== undefined) return free;
    if (this.#threads.length < THREADS) return this.#start();
    return [...this.#threads].sort((a, b) => a.batches.size - b.batches.size)[0];
  }

  #start(): Thread | undefined {
    try {
      const worker = new Worker(packageFile('dist/watch/content/hash-worker.js'), {
        resourceLimits: { maxYoungGenerationSizeMb: 4 },
      });
      const thread = { worker, batches: new Map<number, Batch>() };
      worker.on('message', (reply: HashReply) => this.#answered(thread, reply));
      worker.on('error', (error) => this.#failed(thread, error));
      worker.unref();
      this.#threads.push(thread);
      return thread;
    } catch (error) {
      this.#broken = true;
      this.#log.write('warn', 'Hash threads are not available; hashing on the main thread.', {
        error: String(error),
      });
      return undefined;
    }
  }

  #answered(thread: Thread, reply: HashReply): void {
    const batch = thread.batches.get(reply.id);
    thread.batches.delete(reply.id);
    batch?.done(batch.paths.map((_, index) => decodeReading(reply, index)));
    if (this.#threads.every(({ batches }) => batches.size === 0)) this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.close(), IDLE_MS);
    this.#idle.unref();
  }

  #failed(thread: Thread, error: unknown): void {
    this.#broken = true;
    this.#log.write('error', 'A hash thread died; hashing on the main thread.', {
      error: String(error),
    });
    this.#threads = this.#threads.filter((other) => other !== thread);
    for (const batch of thread.batches.values()) batch.done(undefined);
  }
}
