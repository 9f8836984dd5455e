import type { NetworkEntry } from '../../core/changes/streams.js';
import { bounded, boundedUrl } from './bounds.js';
import { fieldsOf, numberOf, textOf, type Fields } from './message.js';

interface Request {
  readonly url: string;
  readonly method: string;
  /** In seconds of the browser's own clock. */
  readonly began: number;
  /** Wall time in ms. */
  readonly at: number;
  status?: number;
  answered?: number;
}

/** A page that leaves more of them open makes them up; the oldest are forgotten. */
const MOST_OPEN = 2_000;
const LONGEST_METHOD = 100;
const NO_ANSWER = 0;
/** Not asked of anybody outside the browser. */
const INSIDE = /^(data|blob|about|filesystem|javascript):/iu;
/** An extension of whoever looks at the page did that. */
const BLOCKED_BY_CLIENT = 'net::ERR_BLOCKED_BY_CLIENT';
/** Asked by the browser on behalf of another request, which fails when this one does. */
const PREFLIGHT = 'Preflight';
/** Answered and open for as long as the page lives. */
const ENDLESS = 'EventSource';

/**
 * Requests from their beginning to their end. One for the whole browser: the script of a worker is
 * asked for by the page, and the worker hears that it has come.
 */
export class Requests {
  readonly #open = new Map<string, Request>();

  /** What has come to its end by this event. */
  take(method: string, params: Fields, now: number): NetworkEntry | undefined {
    const id = textOf(params['requestId']);
    if (id === undefined) return undefined;
    switch (method) {
      case 'Network.requestWillBeSent':
        return this.#begin(id, params, now);
      case 'Network.responseReceived':
        return this.#answer(id, params);
      case 'Network.loadingFinished':
        return this.#end(id, numberOf(params['timestamp']));
      case 'Network.loadingFailed':
        return this.#fail(id, params);
      default:
        return undefined;
    }
  }

  /** A redirect goes on under the same id. */
  #begin(id: string, params: Fields, now: number): NetworkEntry | undefined {
    const { request, redirectResponse, timestamp, wallTime, type } = params;
    const began = numberOf(timestamp) ?? 0;
    const ended = redirectResponse === undefined ? undefined : this.#redirect(id, params);
    const { url, method } = fieldsOf(request);
    const address = textOf(url) ?? '';
    if (address === '' || INSIDE.test(address) || type === PREFLIGHT) return ended;
    const wall = numberOf(wallTime);
    this.#open.set(id, {
      url: boundedUrl(address),
      method: bounded(textOf(method) ?? 'GET', LONGEST_METHOD),
      began,
      at: wall === undefined ? now : wall * 1_000,
    });
    if (this.#open.size > MOST_OPEN) this.#forgetOldest();
    return ended;
  }

  #redirect(id: string, { redirectResponse, timestamp }: Fields): NetworkEntry | undefined {
    const request = this.#open.get(id);
    if (request !== undefined) request.status = statusOf(redirectResponse) ?? NO_ANSWER;
    return this.#end(id, numberOf(timestamp));
  }

  #answer(id: string, { response, timestamp, type }: Fields): NetworkEntry | undefined {
    const request = this.#open.get(id);
    const status = statusOf(response);
    if (request === undefined || status === undefined) return undefined;
    request.status = status;
    request.answered = numberOf(timestamp) ?? request.began;
    return type === ENDLESS ? this.#end(id, request.answered) : undefined;
  }

  #end(id: string, time: number | undefined): NetworkEntry | undefined {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (request === undefined) return undefined;
    const { url, method, began, at, status = NO_ANSWER, answered = began } = request;
    // The end may bear an earlier time than the answer: two processes tell of them.
    const ms = Math.max(0, answered - began, (time ?? began) - began) * 1_000;
    return { url, method, status, durationMs: Math.round(ms * 10) / 10, at: at + ms };
  }

  /** Nobody waits any more for what was cancelled: it did not fail. */
  #fail(id: string, { canceled, errorText, timestamp }: Fields): NetworkEntry | undefined {
    const request = this.#open.get(id);
    if (request === undefined) return undefined;
    const isUnanswered = request.status === undefined;
    if (errorText === BLOCKED_BY_CLIENT || (canceled === true && isUnanswered)) {
      this.#open.delete(id);
      return undefined;
    }
    if (canceled !== true) request.status = NO_ANSWER;
    return this.#end(id, numberOf(timestamp));
  }

  #forgetOldest(): void {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#open.delete(oldest);
  }
}

/** What is read from a file has come, and has no status. */
const READ = 200;

function statusOf(response: unknown): number | undefined {
  const status = numberOf(fieldsOf(response)['status']);
  if (status === undefined) return undefined;
  return status === NO_ANSWER ? READ : Math.min(999, Math.max(0, Math.trunc(status)));
}
