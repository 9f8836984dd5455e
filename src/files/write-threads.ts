import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { packageFile } from '../core/package-file.js';
import type { Path } from '../core/model.js';
import type { Step } from '../core/restore-plan.js';
import type { ContentSource, Outcome } from '../core/tree-writer.js';
import type { Performer } from './performer.js';
import { encodeRequest, type Replacement, type ThreadData, type WriteReply } from './write-wire.js';

export interface ThreadWork extends ThreadData {
  readonly steps: readonly Replacement[];
  readonly source: ContentSource;
  readonly performer: Performer;
  readonly signal: AbortSignal | undefined;
  readonly done: (outcome: Outcome) => void;
}

/** Making a file is mostly waiting for the disk: two at a time take a little over half as long. */
export const THREADS = Math.min(2, availableParallelism());
/** Below this many, starting the threads takes longer than they save. */
export const WORTH_THREADS = 500;
const BATCH = 64;
/** One being written, one being fetched. */
const IN_FLIGHT = 2;

export interface LeftByThreads {
  readonly left: Step[];
  /** Of them, what a thread had when it died: some of it may have been done. */
  readonly begun: ReadonlySet<Path>;
}

/** Replaces files on several threads, in any order. Answers what is left to the caller. */
export async function replaceInThreads(work: ThreadWork): Promise<LeftByThreads> {
  const { steps, performer, signal } = work;
  const left: Step[] = [];
  const begun = new Set<Path>();
  const threads = Array.from({ length: THREADS }, () => startThread(work));
  let next = 0;

  async function feed(thread: Thread): Promise<void> {
    while (next < steps.length && performer.stopped() === undefined && signal?.aborted !== true) {
      const batch = steps.slice(next, next + BATCH);
      next += BATCH;
      const { whole, others } = await fetch(batch, work.source);
      left.push(...others);
      const reply = await thread.replace(whole);
      if (reply === undefined) {
        for (const { step } of whole) begun.add(step.path);
        left.push(...whole.map(({ step }) => step));
        return;
      }
      reply.outcomes.forEach(work.done);
      const isLeft = new Set(reply.left);
      left.push(...whole.filter((_, number) => isLeft.has(number)).map(({ step }) => step));
      if (reply.stopped !== undefined) performer.stop(reply.stopped);
    }
  }

  try {
    const feeders = threads.flatMap((thread) => Array<Thread>(IN_FLIGHT).fill(thread));
    await Promise.all(feeders.map(feed));
  } finally {
    for (const thread of threads) thread.end();
  }
  return { left: [...left, ...steps.slice(next)], begun };
}

/** What can go to a thread: contents in memory. Streams and failures are for the caller. */
async function fetch(batch: readonly Replacement[], source: ContentSource) {
  const whole: { step: Replacement; content: Uint8Array }[] = [];
  const others: Replacement[] = [];
  const fetched = await Promise.allSettled(batch.map(({ hash }) => source(hash)));
  batch.forEach((step, number) => {
    const content = fetched[number];
    if (content?.status === 'fulfilled' && content.value instanceof Uint8Array) {
      whole.push({ step, content: content.value });
    } else others.push(step);
  });
  return { whole, others };
}

interface Thread {
  /** Undefined when the thread is gone. */
  replace(given: Parameters<typeof encodeRequest>[1]): Promise<WriteReply | undefined>;
  /** Files it still holds are let go of on the way. */
  end(): void;
}

function startThread({ root, identity, mostHeld }: ThreadData): Thread {
  const workerData: ThreadData = { root, identity, mostHeld };
  const worker = new Worker(packageFile('dist/files/write-worker.js'), { workerData });
  const waiting = new Map<number, (reply: WriteReply | undefined) => void>();
  let lastId = 0;
  let isGone = false;
  const gone = (): void => {
    isGone = true;
    for (const resolve of waiting.values()) resolve(undefined);
    waiting.clear();
  };
  worker.on('message', (reply: WriteReply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  // Whatever it was: the caller does the rest, and meets it again if it is not over.
  worker.on('error', gone);
  worker.on('exit', gone);
  worker.unref();
  return {
    replace(given) {
      if (isGone) return Promise.resolve(undefined);
      const request = encodeRequest(++lastId, given);
      return new Promise((resolve) => {
        waiting.set(request.id, resolve);
        worker.postMessage(request, [request.bytes.buffer]);
      });
    },
    end: () => void worker.terminate(),
  };
}
