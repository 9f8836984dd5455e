import type { Writable } from 'node:stream';
import type { Log } from '../core/ports.js';

export interface OutflowDeps {
  /** What the reader has not taken yet; beyond it the reader is dropped. */
  readonly unsentBytes: number;
  readonly log: Log;
  /** A subscriber did not keep up. */
  readonly onDropped: () => void;
}

/** Who asked for history and takes none of it for so long is not there any more. */
const STALLED_MS = 60_000;

/** The way out to one reader of events, whatever carries it: bounded, and nobody else waits for it. */
export class Outflow {
  readonly #stream: Writable;
  readonly #deps: OutflowDeps;
  #draining: Promise<void> | undefined;

  constructor(stream: Writable, deps: OutflowDeps) {
    this.#stream = stream;
    this.#deps = deps;
  }

  send(frame: string | Buffer): void {
    if (this.#stream.writable) this.#stream.write(frame);
  }

  /** A subscriber that does not keep up is dropped; it resumes from its last cursor. */
  deliver(frame: string | Buffer): void {
    const stream = this.#stream;
    if (stream.destroyed) return;
    if (stream.writableLength > this.#deps.unsentBytes) {
      this.#deps.onDropped();
      this.#deps.log.write('warn', 'dropped a subscriber that does not read', {
        unsent_bytes: stream.writableLength,
      });
      stream.destroy();
      return;
    }
    this.send(frame);
  }

  /** Whoever reads history back must not be dropped for its length. */
  drained(): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed || !stream.writableNeedDrain) return Promise.resolve();
    this.#draining ??= new Promise((resolve) => {
      const stalled = setTimeout(() => stream.destroy(), STALLED_MS);
      const done = (): void => {
        clearTimeout(stalled);
        stream.off('drain', done).off('close', done);
        this.#draining = undefined;
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
    return this.#draining;
  }
}
