/** How a frame ends tells whose envelope it is: `\n` for JSON-RPC lines, `\f` for node-ipc. */
export type Envelope = 'jsonrpc' | 'node-ipc';

export type Frame =
  | { readonly kind: 'whole'; readonly envelope: Envelope; readonly bytes: Buffer }
  /** The frame passed the limit; its bytes were dropped up to its end, the next frame is sound. */
  | { readonly kind: 'too_large'; readonly envelope: Envelope };

const NEWLINE = 0x0a;
const FORM_FEED = 0x0c;

/**
 * Cuts a byte stream into frames and never holds more than `limit` bytes of an unfinished one.
 * Valid JSON has neither ending inside a string, so the first of either ends the frame.
 */
export class FrameSplitter {
  readonly #limit: () => number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #dropping = false;

  constructor(limit: () => number) {
    this.#limit = limit;
  }

  /** True while part of a frame is here and its end is not. */
  get isPartial(): boolean {
    return this.#heldBytes > 0 || this.#dropping;
  }

  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = [];
    let start = 0;
    let newline = chunk.indexOf(NEWLINE);
    let formFeed = chunk.indexOf(FORM_FEED);
    while (newline !== -1 || formFeed !== -1) {
      const isLine = formFeed === -1 || (newline !== -1 && newline < formFeed);
      const end = isLine ? newline : formFeed;
      const frame = this.#finish(chunk.subarray(start, end), isLine ? 'jsonrpc' : 'node-ipc');
      if (frame !== undefined) frames.push(frame);
      start = end + 1;
      if (isLine) newline = chunk.indexOf(NEWLINE, start);
      else formFeed = chunk.indexOf(FORM_FEED, start);
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
    return frames;
  }

  #finish(tail: Buffer, envelope: Envelope): Frame | undefined {
    if (this.#dropping) {
      this.#dropping = false;
      return { kind: 'too_large', envelope };
    }
    const size = this.#heldBytes + tail.length;
    const bytes = this.#heldBytes === 0 ? tail : Buffer.concat([...this.#held, tail], size);
    this.#release();
    if (size > this.#limit()) return { kind: 'too_large', envelope };
    return isBlank(bytes) ? undefined : { kind: 'whole', envelope, bytes };
  }

  /** Keeps the start of a frame, or drops it once it is too large: its end tells whom to tell. */
  #hold(part: Buffer): void {
    if (this.#dropping) return;
    if (this.#heldBytes + part.length > this.#limit()) {
      this.#release();
      this.#dropping = true;
      return;
    }
    // A copy: the chunk may be 64 KiB of which these are the last three bytes.
    this.#held.push(Buffer.from(part));
    this.#heldBytes += part.length;
  }

  #release(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }
}

/** Blank lines are harmless: people type them, and `\r\n` senders make them. */
function isBlank(bytes: Buffer): boolean {
  if (bytes.length > 2) return false;
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
