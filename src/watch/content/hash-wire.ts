import type { Stamp } from '../../core/stamp.js';
import type { Reading } from './content.js';

/** What travels between the main thread and a hash worker. */
export interface HashRequest {
  readonly id: number;
  readonly paths: readonly string[];
  readonly maxBytes: number;
}

export interface HashReply {
  readonly id: number;
  /** Eight numbers per file: kind, racy, and the stamp. Cheaper to clone than objects. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** 40 hex digits per file with content, an error code per unreadable one, else ''. */
  readonly texts: readonly string[];
}

const KINDS = ['content', 'moved', 'unreadable', 'unstable', 'too_large'] as const;
const WIDTH = 8;

export function decodeRequest(message: unknown): HashRequest {
  return message as HashRequest;
}

export function encodeReply(id: number, readings: readonly Reading[]): HashReply {
  const numbers = new Float64Array(readings.length * WIDTH);
  const texts = readings.map((reading, index) => {
    const at = index * WIDTH;
    numbers[at] = KINDS.indexOf(reading.kind);
    if (reading.kind === 'content') numbers[at + 1] = Number(reading.racy);
    if ('stamp' in reading) {
      const { mtimeMs, ctimeMs, size, ino, mode, nlink } = reading.stamp;
      numbers.set([mtimeMs, ctimeMs, size, ino, mode, nlink], at + 2);
    }
    if (reading.kind === 'content') return reading.hash;
    return reading.kind === 'unreadable' ? reading.code : '';
  });
  return { id, numbers, texts };
}

export function decodeReading(reply: HashReply, index: number): Reading {
  const [kind, racy, ...stamp] = reply.numbers.subarray(index * WIDTH, (index + 1) * WIDTH);
  const text = reply.texts[index] ?? '';
  switch (KINDS[kind ?? -1]) {
    case 'content':
      return { kind: 'content', hash: text, stamp: decodeStamp(stamp), racy: racy !== 0 };
    case 'too_large':
      return { kind: 'too_large', stamp: decodeStamp(stamp) };
    case 'unreadable':
      return { kind: 'unreadable', code: text };
    case 'unstable':
      return { kind: 'unstable' };
    case 'moved':
    case undefined:
  }
  return { kind: 'moved' };
}

function decodeStamp(numbers: readonly number[]): Stamp {
  const [mtimeMs = 0, ctimeMs = 0, size = 0, ino = 0, mode = 0, nlink = 1] = numbers;
  return { mtimeMs, ctimeMs, size, ino, mode, nlink };
}
