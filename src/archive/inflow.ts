import { damaged } from './damage.js';

/** A stream from which so many bytes are taken at a time. */
export class Inflow {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #waiting: Buffer = Buffer.alloc(0);
  #isEnded = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Undefined when fewer are left. */
  async peek(count: number): Promise<Buffer | undefined> {
    while (this.#waiting.length < count && !this.#isEnded) {
      const next = await this.#chunks.next();
      if (next.done === true) this.#isEnded = true;
      else this.#waiting = Buffer.concat([this.#waiting, next.value]);
    }
    return this.#waiting.length < count ? undefined : this.#waiting.subarray(0, count);
  }

  /** @throws SmithyError STORE_CORRUPT when fewer are left. */
  async take(count: number): Promise<Buffer> {
    const taken = await this.peek(count);
    if (taken === undefined) throw damaged('it ends in the middle');
    this.#waiting = this.#waiting.subarray(count);
    return taken;
  }

  /** At most so many, at least one. */
  async some(most: number): Promise<Buffer> {
    await this.peek(1);
    return this.take(Math.max(1, Math.min(most, this.#waiting.length)));
  }

  /** Nothing more is wanted: lets go of whatever the source holds. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  async isAtEnd(): Promise<boolean> {
    return (await this.peek(1)) === undefined;
  }
}
