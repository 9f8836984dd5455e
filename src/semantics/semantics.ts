import { Worker } from 'node:worker_threads';
import { packageFile } from '../core/package-file.js';
import type { Log } from '../core/ports.js';
import { languageOf, linesOnly, type Enrichment, type Semantics } from '../core/semantics.js';
import type { Question } from './examine.js';
import { installedGrammars } from './installed.js';
import { ANSWER_MS, IDLE_MS, mostBytes, MOST_WAITING, MOST_WAITING_BYTES } from './limits.js';

export interface SemanticsOptions {
  readonly log: Log;
  /** The compiled thread; only tests that run from the sources name another place. */
  readonly worker?: URL;
  readonly answerMs?: number;
  readonly idleMs?: number;
}

interface Waiting extends Question {
  readonly resolve: (answer: Enrichment) => void;
}

/** Grammars and trees live in a thread that starts with the first question and ends when idle. */
export function createSemantics(options: SemanticsOptions): Semantics {
  const thread = new SemanticsThread(options);
  return {
    enrich(path, content, ranges) {
      const language = languageOf(path);
      if (language === undefined) {
        return Promise.resolve(linesOnly(ranges, `${path} is of no known language.`));
      }
      if (content.length > mostBytes(language)) {
        const most = `${mostBytes(language)} bytes`;
        return Promise.resolve(linesOnly(ranges, `${path} is larger than ${most}.`));
      }
      return thread.ask({ path, content, ranges });
    },
    ...installedGrammars(),
    close: () => thread.close(),
  };
}

function unsettled({ path, ranges }: Omit<Question, 'content'>, reason: string): Enrichment {
  return { ...linesOnly(ranges, notExamined(path, reason)), unsettled: true };
}

function notExamined(path: string, reason: string): string {
  return `${path} was not examined: ${reason}.`;
}

/** One question at a time: what takes too long is known by name, and ends with its thread. */
class SemanticsThread {
  readonly #log: Log;
  readonly #script: URL;
  readonly #answerMs: number;
  readonly #idleMs: number;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #worker: Worker | undefined;
  #asked: Waiting | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ log, worker, answerMs = ANSWER_MS, idleMs = IDLE_MS }: SemanticsOptions) {
    this.#log = log;
    this.#script = worker ?? packageFile('dist/semantics/worker.js');
    this.#answerMs = answerMs;
    this.#idleMs = idleMs;
  }

  ask({ path, content, ranges }: Question): Promise<Enrichment> {
    const room =
      this.#waiting.length < MOST_WAITING &&
      this.#waitingBytes + content.length <= MOST_WAITING_BYTES;
    if (this.#closed || !room) {
      const reason = this.#closed ? 'the daemon stops' : 'too many files wait';
      return Promise.resolve(unsettled({ path, ranges }, reason));
    }
    return new Promise((resolve) => {
      // A copy of these bytes alone: the caller goes on with its own, which may be part of more.
      this.#waiting.push({ path, content: new Uint8Array(content), ranges, resolve });
      this.#waitingBytes += content.length;
      this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const left = this.#waiting.splice(0);
    const asked = this.#asked;
    this.#asked = undefined;
    for (const one of asked === undefined ? left : [asked, ...left]) {
      one.resolve(unsettled(one, 'the daemon stops'));
    }
    await this.#end();
  }

  #next(): void {
    if (this.#asked !== undefined) return;
    const next = this.#waiting.shift();
    clearTimeout(this.#timer);
    if (next === undefined) {
      this.#rest();
      return;
    }
    this.#asked = next;
    this.#waitingBytes -= next.content.length;
    this.#timer = setTimeout(() => this.#gaveUp('it took too long'), this.#answerMs);
    try {
      this.#worker ??= this.#start();
      this.#worker.ref();
      const { path, content, ranges } = next;
      this.#worker.postMessage({ path, content, ranges }, [content.buffer as ArrayBuffer]);
    } catch (error) {
      this.#gaveUp(String(error));
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#script, {
      // Twice what the largest YAML takes; a thread that needs more ends, and the daemon does not.
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 },
    });
    worker.on('message', (answer: Enrichment) => {
      if (worker === this.#worker) this.#answered(answer);
    });
    worker.on('error', (error) => {
      if (worker === this.#worker) this.#gaveUp(String(error));
    });
    return worker;
  }

  #answered(answer: Enrichment): void {
    this.#asked?.resolve(answer);
    this.#asked = undefined;
    this.#next();
  }

  #gaveUp(reason: string): void {
    this.#log.write('warn', 'A file could not be examined; its lines stand for it.', {
      path: this.#asked?.path,
      reason,
    });
    void this.#end();
    const asked = this.#asked;
    this.#asked = undefined;
    // Final: whatever it was about this file, it would hold up the others every time.
    asked?.resolve(linesOnly(asked.ranges, notExamined(asked.path, reason)));
    this.#next();
  }

  #rest(): void {
    this.#worker?.unref();
    this.#timer = setTimeout(() => void this.#end(), this.#idleMs);
    this.#timer.unref();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}
