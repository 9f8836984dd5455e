import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { LedgerEntry } from '../core/ledger.js';

/**
 * One line of the file:
 *
 *     {"seq":7,"id":"evt-000007",...,"prev":"<64 hex>","more":0,"crc":"<8 hex>"}\n
 *
 * `prev` chains the lines, so a change anywhere but in the last one shows in the line after it.
 * `crc` covers the bytes before it, so it shows in the last one too. `more` counts the lines that
 * follow in the same group: a tail that ends in the middle of a group is as torn as half a line.
 * `more` and `crc` belong to the file, not to the event.
 */
const TAIL = /,"prev":"([0-9a-f]{64})","more":(\d{1,6}),"crc":"([0-9a-f]{8})"\}$/u;
const HEAD = /^\{"seq":(\d{1,15}),/u;
const CRC_BYTES = ',"crc":"00000000"}'.length;
const MORE = ',"more":';
/** Enough for the longest match of `TAIL`. */
const TAIL_BYTES = 128;

/** The `prev` of the first line. */
export const NO_HASH = '0'.repeat(64);

export const NEWLINE = 0x0a;

export function hashLine(line: Uint8Array): string {
  return createHash('sha256').update(line).digest('hex');
}

/** The bytes of one entry, without the line end. */
export function encodeLine(entry: LedgerEntry, more: number): Buffer {
  const { seq, id, prev, ...rest } = entry;
  // Both ends in a fixed order: opening checks a long file without parsing every line of it.
  const text = JSON.stringify({ seq, id, ...withoutFraming(rest), prev, more }).slice(0, -1);
  const body = Buffer.from(text);
  return Buffer.concat([body, Buffer.from(`,"crc":"${checksum(body)}"}`)]);
}

export interface CheckedLine {
  readonly seq: number;
  readonly prev: string;
  readonly more: number;
}

/** The line's own account of itself; undefined when its bytes are not what was written. */
export function checkLine(line: Buffer): CheckedLine | undefined {
  const tail = TAIL.exec(line.toString('latin1', Math.max(0, line.length - TAIL_BYTES)));
  const seq = claimedSeq(line);
  if (tail === null || seq === undefined) return undefined;
  const [, prev = '', more, crc] = tail;
  if (crc !== checksum(line.subarray(0, line.length - CRC_BYTES))) return undefined;
  return { seq, prev, more: Number(more) };
}

/** What a line says its number is, whether or not its bytes are what was written. */
export function claimedSeq(line: Buffer): number | undefined {
  const head = HEAD.exec(line.toString('latin1', 0, 32));
  return head === null ? undefined : Number(head[1]);
}

/** The entry of a line that passed `checkLine`. */
export function decodeLine(line: Buffer): LedgerEntry {
  const text = line.toString();
  // Cut off before it is parsed: taking members out of an object costs more than making it.
  return JSON.parse(`${text.slice(0, text.lastIndexOf(MORE))}}`) as LedgerEntry;
}

function withoutFraming<Event extends Record<string, unknown>>(event: Event): Event {
  const { ...copy } = event;
  delete copy['more'];
  delete copy['crc'];
  return copy;
}

function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0');
}
