import type { IncomingMessage } from 'node:http';
import { SmithyError } from '../../core/errors.js';
import type { WireLimits } from '../connection.js';
import { parseJson, tooLarge } from '../messages.js';
import { HttpRefusal, type Content } from './answers.js';

/** The JSON of a request, `{}` when it has no body. Bounded in size and time. */
export async function readJson(request: IncomingMessage, limits: WireLimits): Promise<unknown> {
  const { 'content-type': type, 'content-length': length } = request.headers;
  const isEmpty = request.headers['transfer-encoding'] === undefined && Number(length ?? 0) === 0;
  // Any other type could come from a form of a foreign page without its browser asking first.
  if (!(isEmpty && type === undefined) && !isJson(type)) throw unsupported(type);
  const limit = limits.maxFrameBytes();
  if (Number(length ?? 0) > limit) throw tooLarge(limit);
  const bytes = await collect(request, limit, limits.partialFrameMs);
  return bytes.length === 0 ? {} : parseJson(bytes);
}

function isJson(type: string | undefined): boolean {
  return /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/iu.test(type ?? '');
}

function collect(request: IncomingMessage, limit: number, withinMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void): void => {
      clearTimeout(late);
      request.off('data', take).off('end', done).off('close', gone);
      end();
    };
    const late = setTimeout(() => settle(() => reject(tooSlow())), withinMs);
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) settle(() => reject(tooLarge(limit)));
      else chunks.push(chunk);
    };
    const done = (): void => settle(() => resolve(Buffer.concat(chunks)));
    const gone = (): void => settle(() => reject(tooSlow()));
    request.on('data', take).on('end', done).on('close', gone);
  });
}

function unsupported(type: string | undefined): HttpRefusal {
  const what = type === undefined ? 'nothing' : `"${type.slice(0, 100)}"`;
  const error = new SmithyError('INVALID_REQUEST', `The body must be JSON, and says ${what}.`, {
    hint: 'Send "Content-Type: application/json".',
  });
  return new HttpRefusal(error, 415);
}

function tooSlow(): HttpRefusal {
  const error = new SmithyError('TIMEOUT', 'The body was begun and not finished in time.', {
    data: { retry_after_ms: 0 },
  });
  return new HttpRefusal(error, 408);
}

/** What the parser of HTTP itself could not read; there is no request to answer then. */
export function unreadable(code: string | undefined): Pick<Content, 'status'> & { why: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, why: 'its headers are too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, why: 'it did not end in time' };
  return { status: 400, why: 'it is no HTTP' };
}
