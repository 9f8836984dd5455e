import type { ServerResponse } from 'node:http';
import type { StreamedEvent } from '../../core/events.js';
import type { Peer } from '../method.js';
import { Outflow, type OutflowDeps } from '../outflow.js';
import { SAFE_HEADERS } from './answers.js';

/** Two hundred readers get the same event in one turn: it is put into words once. */
const lastFrame: { event?: StreamedEvent; frame: Buffer } = { frame: Buffer.alloc(0) };

function frameOf(event: StreamedEvent): Buffer {
  if (lastFrame.event !== event) {
    lastFrame.event = event;
    lastFrame.frame = Buffer.from(`id: ${event.cursor}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  return lastFrame.frame;
}

/** A browser that lost us asks again after this. */
const RETRY_MS = 1_000;

/** One reader of events over HTTP: what a socket's subscriber is, in other words. */
export class SseReader {
  readonly #response: ServerResponse;
  readonly #outflow: Outflow;
  readonly #releases: (() => void)[] = [];
  #hasTold = false;

  constructor(response: ServerResponse, deps: OutflowDeps) {
    this.#response = response;
    this.#outflow = new Outflow(response, deps);
    response.on('close', () => {
      for (const release of this.#releases.splice(0)) release();
    });
  }

  get peer(): Peer {
    return {
      identity: this,
      isBrief: false,
      deliver: (event) => {
        this.#begin();
        this.#hasTold = true;
        this.#outflow.deliver(frameOf(event));
      },
      drained: () => this.#outflow.drained(),
      onGone: (release) => {
        if (this.#response.destroyed) release();
        else this.#releases.push(release);
      },
      linger: () => undefined,
    };
  }

  /** What the socket answers to `subscribe`. The cursor moves a reader on only if nothing did yet. */
  subscribed(answer: { readonly cursor: string }): void {
    this.#begin();
    const id = this.#hasTold ? '' : `id: ${answer.cursor}\n`;
    this.#outflow.send(`event: subscribed\n${id}data: ${JSON.stringify(answer)}\n\n`);
  }

  /** Tells proxies and clients that it is quiet, not dead; and us, in time, that nobody is there. */
  beat(): void {
    if (this.#response.headersSent) this.#outflow.deliver(': alive\n\n');
  }

  end(): void {
    this.#response.end();
  }

  /** Late, so that a refused request can still be answered with a status. */
  #begin(): void {
    if (this.#response.headersSent) return;
    // The stream ends with the connection. In chunks each event would be three pieces for the kernel,
    // which with hundreds of readers was most of what an event cost.
    this.#response.useChunkedEncodingByDefault = false;
    this.#response.writeHead(200, {
      ...SAFE_HEADERS,
      connection: 'close',
      'content-type': 'text/event-stream; charset=utf-8',
    });
    this.#outflow.send(`retry: ${RETRY_MS}\n\n`);
  }
}
