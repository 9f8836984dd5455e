import { z } from 'zod';
import type { ActionEntry, WebsocketEntry } from '../../core/changes/streams.js';
import type { Told } from '../../core/changes/told.js';
import { bounded, boundedUrl } from './bounds.js';

/**
 * What our scripts inside a page report. A page can call them too, with anything: whatever is not
 * exactly of this shape and size was not written by us and is left out.
 */
const MOST_CHARACTERS = 8_000;
const url = z.string().max(4_000);

const SocketReport = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('open'), id: z.int().min(0), url }),
  z.strictObject({
    event: z.literal('close'),
    id: z.int().min(0),
    url,
    code: z.int().min(0).max(65_535),
    reason: z.string().max(200),
  }),
]);

const ActionReport = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('click'), url, target: z.string().max(400) }),
  z.strictObject({
    type: z.literal('typing'),
    url,
    target: z.string().max(400),
    /** Absent of what is secret: its length is part of the secret. */
    characters: z.int().min(0).max(1_000_000_000).optional(),
  }),
]);

const LONGEST_TARGET = 200;

export function fromSocketReport(
  payload: string,
  { context, now }: { readonly context: string; readonly now: number },
): Told | undefined {
  const report = SocketReport.safeParse(parsed(payload)).data;
  if (report === undefined) return undefined;
  const entry: WebsocketEntry = {
    event: report.event,
    url: boundedUrl(report.url),
    id: `${context}.${report.id}`,
    closeCode: report.event === 'close' ? report.code : null,
    closeReason: report.event === 'close' ? report.reason : null,
    message: null,
    at: now,
  };
  return { stream: 'websocket', entry };
}

export function fromActionReport(payload: string, now: number): Told | undefined {
  const report = ActionReport.safeParse(parsed(payload)).data;
  if (report === undefined) return undefined;
  const characters = report.type === 'typing' ? report.characters : undefined;
  const entry: ActionEntry = {
    type: report.type,
    url: boundedUrl(report.url),
    target: bounded(report.target, LONGEST_TARGET),
    value: characters === undefined ? null : `${characters} character(s)`,
    at: now,
  };
  return { stream: 'actions', entry };
}

function parsed(payload: string): unknown {
  if (payload.length > MOST_CHARACTERS) return undefined;
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return undefined;
  }
}
