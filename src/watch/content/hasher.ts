import type { Log } from '../../core/ports.js';
import { readContent, type Reading } from './content.js';
import { HashPool } from './hash-pool.js';
import type { Folder, Leaf } from '../known/tree.js';
import type { Visit } from '../scan/visit.js';

export interface HashJob {
  readonly folder: Folder;
  readonly name: string;
  readonly leaf: Leaf;
  readonly visit: Visit;
  readonly size: number;
}

interface Deps {
  readonly absolute: (relative: string) => string;
  readonly maxBytes: () => number;
  readonly done: (job: HashJob, reading: Reading) => void;
  /** Some of the queue was worked off. */
  readonly caughtUp: () => void;
  readonly log: Log;
}

// A thread costs 40 ms to start: fewer files than this are read sooner here.
const BULK = 400;
const BATCH = 64;
// About 4 ms of reading and hashing; beyond it the loop would feel the pause.
const LARGE = 4 * 1024 * 1024;
const SLICE_MS = 8;

/** Decides where content is read: at once, in slices on this thread, or in bulk on others. */
export class Hasher {
  readonly #deps: Deps;
  readonly #pool: HashPool;
  #queue: HashJob[] = [];
  #head = 0;
  #large: HashJob[] = [];
  #scheduled = false;
  #closed = false;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#pool = new HashPool(deps.log);
  }

  get backlog(): number {
    return this.#queue.length - this.#head;
  }

  /** For a single change: known before this returns, unless the file is large. */
  now(job: HashJob): void {
    if (job.size > LARGE) this.push(job);
    else this.#deps.done(job, this.#read(job, this.#deps.maxBytes()));
  }

  /** For many: known when the visit is over. */
  push(job: HashJob): void {
    job.visit.begin();
    job.leaf.reading = true;
    (job.size > LARGE ? this.#large : this.#queue).push(job);
    this.#schedule();
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of [...this.#queue.slice(this.#head), ...this.#large]) job.visit.end();
    this.#queue = [];
    this.#head = 0;
    this.#large = [];
    await this.#pool.close();
  }

  #read(job: HashJob, mostBytes: number): Reading {
    return readContent(this.#deps.absolute(job.folder.childPath(job.name)), mostBytes);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#closed) return;
    while (this.#large.length > 0 && this.#pool.hasRoom) this.#hand(this.#large.splice(0, 1));
    if (this.backlog >= BULK && !this.#pool.isBroken) this.#handBatches();
    else this.#slice();
    if (this.backlog === 0 && this.#head > 0) {
      this.#queue = [];
      this.#head = 0;
    }
  }

  #handBatches(): void {
    while (this.backlog > 0 && this.#pool.hasRoom) {
      const jobs = this.#queue.slice(this.#head, this.#head + BATCH);
      this.#head += jobs.length;
      this.#hand(jobs);
    }
    // Keep the list from growing at one end while it is eaten from the other.
    if (this.#head > 16_384) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  #slice(): void {
    const until = performance.now() + SLICE_MS;
    if (this.#pool.isBroken) {
      this.#queue.push(...this.#large);
      this.#large = [];
    }
    while (this.backlog > 0 && performance.now() < until) {
      const job = this.#queue[this.#head];
      this.#head += 1;
      if (job !== undefined) this.#readNow(job);
    }
    if (this.backlog > 0) this.#schedule();
    this.#deps.caughtUp();
  }

  /** What a listing found has no size yet: a large one is left to the threads after all. */
  #readNow(job: HashJob): void {
    const mostBytes = this.#deps.maxBytes();
    const reading = this.#read(job, this.#pool.isBroken ? mostBytes : Math.min(LARGE, mostBytes));
    if (reading.kind === 'too_large' && reading.stamp.size <= mostBytes) {
      this.#large.push({ ...job, size: reading.stamp.size });
      this.#schedule();
    } else this.#finish(job, reading);
  }

  #hand(jobs: readonly HashJob[]): void {
    this.#pool.run({
      paths: jobs.map((job) => this.#deps.absolute(job.folder.childPath(job.name))),
      maxBytes: this.#deps.maxBytes(),
      done: (readings) => {
        if (this.#closed) {
          for (const job of jobs) job.visit.end();
          return;
        }
        if (readings === undefined) this.#queue.push(...jobs);
        else for (const [index, job] of jobs.entries()) this.#finish(job, readings[index]);
        this.#schedule();
        this.#deps.caughtUp();
      },
    });
  }

  #finish(job: HashJob, reading: Reading | undefined): void {
    job.leaf.reading = false;
    this.#deps.done(job, reading ?? { kind: 'moved' });
    job.visit.end();
  }
}
