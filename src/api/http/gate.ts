import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SmithyError } from '../../core/errors.js';
import { HttpRefusal } from './answers.js';
import type { Visits } from './visits.js';

export interface Gate {
  readonly port: number;
  readonly token: string;
  readonly visits: Visits;
}

export const LOOPBACK = '127.0.0.1';

/** Cookies know no ports, and several daemons share the host: each has a name of its own. */
export function cookieName(port: number): string {
  return `smithyd_${port}`;
}

/**
 * A name that leads to loopback is how a web page reaches a local server: only our own two names
 * are answered. Runs before anything else of a request is looked at.
 */
export function requireOwnHost(request: IncomingMessage, { port }: Gate): void {
  if (countOf(request, 'host') > 1) throw malformed('it names its host twice');
  const host = request.headers.host;
  if (host !== undefined && ownHosts(port).includes(host)) return;
  throw forbidden('This address is not one of this server.', `Use ${ownHosts(port)[0] ?? ''}.`);
}

/** No page of another origin gets anything, whatever it knows. */
export function requireOwnOrigin(request: IncomingMessage, { port }: Gate): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  const isOwn = origin === undefined || isOwnOrigin(origin, port);
  // Browsers send it where they send no Origin; `none` is a person who typed the address.
  const isNear = site === undefined || site === 'same-origin' || site === 'none';
  if (!isOwn || !isNear) {
    throw forbidden('Pages of other origins are not answered.', 'Call from a program instead.');
  }
}

/** The token in its header, or the cookie of a browser that was let in. */
export function requireCaller(request: IncomingMessage, gate: Gate): void {
  const { authorization } = request.headers;
  if (authorization !== undefined) {
    if (countOf(request, 'authorization') === 1 && hasToken(authorization, gate.token)) return;
    throw unauthorized();
  }
  const cookie = cookieOf(request, cookieName(gate.port));
  if (cookie === undefined || !gate.visits.isVisitor(cookie)) throw unauthorized();
  // A form on a page could send a POST with the cookie; only our own page says our own origin.
  if (request.method !== 'GET' && request.headers.origin === undefined) {
    throw forbidden('A browser must say where a request comes from.', 'Send an Origin header.');
  }
}

function ownHosts(port: number): string[] {
  return [`${LOOPBACK}:${port}`, `localhost:${port}`];
}

function isOwnOrigin(origin: string, port: number): boolean {
  return ownHosts(port).some((host) => origin === `http://${host}`);
}

/** Compares digests: their lengths are equal, and where they differ tells nothing. */
function hasToken(authorization: string, token: string): boolean {
  const [, given] = /^Bearer ([\w-]{1,200})$/iu.exec(authorization) ?? [];
  if (given === undefined) return false;
  const [a, b] = [given, token].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function cookieOf(request: IncomingMessage, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}

function forbidden(message: string, hint: string): SmithyError {
  return new SmithyError('FORBIDDEN', message, { hint });
}

function unauthorized(): SmithyError {
  return new SmithyError('UNAUTHORIZED', 'This needs the token of the running daemon.', {
    hint: 'Send "Authorization: Bearer TOKEN" with the content of .agentsmithy/run/token; a browser is let in by `smithyd open`.',
  });
}

export function malformed(why: string): HttpRefusal {
  const error = new SmithyError('INVALID_REQUEST', `The request cannot be read: ${why}.`);
  return new HttpRefusal(error, 400);
}
