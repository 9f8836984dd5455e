import type { Log } from '../core/ports.js';

/** Who wants to be told; one listener's failure is not the others' problem. */
export class Listeners<T> {
  readonly #log: Log;
  readonly #all = new Set<(event: T) => void>();

  constructor(log: Log) {
    this.#log = log;
  }

  add(listener: (event: T) => void): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  tell(event: T): void {
    for (const listener of [...this.#all]) {
      try {
        listener(event);
      } catch (error) {
        this.#log.write('error', 'A listener of the watcher failed.', { error: String(error) });
      }
    }
  }
}
