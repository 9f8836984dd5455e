import { damaged } from './damage.js';
import { Inflow } from './inflow.js';

/** The format of POSIX 2001 (`pax`), as every tar reads it. */

const BLOCK = 512;
/** Of one extended header, and of the manifest's path in it. */
const MOST_PAX_BYTES = 64 * 1024;

export interface TarHead {
  readonly path: string;
  readonly size: number;
  readonly kind: 'file' | 'program' | 'link';
  /** Of a link. */
  readonly target?: string;
}

/** All that stands before the content. */
export function tarHead({ path, size, kind, target = '' }: TarHead): Buffer {
  const extended = [
    ...(fits(path, 100) ? [] : [paxRecord('path', path)]),
    ...(fits(target, 100) ? [] : [paxRecord('linkpath', target)]),
    ...(size < 0o77777777777 ? [] : [paxRecord('size', String(size))]),
  ];
  const own = header({ path, size, type: kind === 'link' ? '2' : '0', kind, target });
  if (extended.length === 0) return own;
  const records = Buffer.concat(extended);
  const pax = header({ path: 'pax', size: records.length, type: 'x', kind: 'file', target: '' });
  return Buffer.concat([pax, records, padding(records.length), own]);
}

/** What fills the last block of a content. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export const TAR_END = Buffer.alloc(2 * BLOCK);

function fits(text: string, most: number): boolean {
  return Buffer.byteLength(text) <= most && /^[ -~]*$/u.test(text);
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`);
}

interface Header {
  readonly path: string;
  readonly size: number;
  readonly type: string;
  readonly kind: TarHead['kind'];
  readonly target: string;
}

function header({ path, size, type, kind, target }: Header): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');
  block.write(path.replace(/[^ -~]/gu, '?').slice(0, 100), 0, 'latin1');
  block.write(octal(kind === 'program' ? 0o755 : 0o644, 7), 100, 'latin1');
  block.write(`${octal(0, 7)}\0${octal(0, 7)}\0`, 108, 'latin1');
  block.write(octal(size < 0o77777777777 ? size : 0, 11), 124, 'latin1');
  // Always the same, so that the same snapshot is the same archive.
  block.write(octal(0, 11), 136, 'latin1');
  block.write(' '.repeat(8), 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write(target.replace(/[^ -~]/gu, '?').slice(0, 100), 157, 'latin1');
  block.write('ustar\0' + '00', 257, 'latin1');
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148, 'latin1');
  return block;
}

/** One entry on its way out; its content must be taken before the next one comes. */
export interface TarEntry extends TarHead {
  readonly content: () => AsyncGenerator<Buffer>;
}

/** @throws SmithyError STORE_CORRUPT */
export async function* tarEntries(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const inflow = new Inflow(bytes);
  try {
    yield* entriesOf(inflow);
  } finally {
    await inflow.close();
  }
}

async function* entriesOf(inflow: Inflow): AsyncGenerator<TarEntry> {
  let more = new Map<string, string>();
  for (;;) {
    const block = await inflow.take(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const { type, size, ...head } = readHeader(block);
    if (type === 'x' || type === 'g') {
      if (size > MOST_PAX_BYTES) throw damaged('one of its headers is too long');
      const records = readPax(await inflow.take(size));
      await inflow.take(padding(size).length);
      if (type === 'x') more = records;
      continue;
    }
    const length = sizeOf(more.get('size'), size);
    const target = more.get('linkpath') ?? head.target;
    const entry = { path: more.get('path') ?? head.path, size: length };
    more = new Map();
    // Folders come with their files.
    if (type === '5' && length === 0) continue;
    let left = length;
    const content = async function* (): AsyncGenerator<Buffer> {
      for (; left > 0;) {
        const some = await inflow.some(Math.min(left, 64 * 1024));
        left -= some.length;
        yield some;
      }
    };
    yield { ...entry, ...kindOf(type, { target, isProgram: head.isProgram }), content };
    if (left > 0) throw damaged('a file in it was not read');
    await inflow.take(padding(length).length);
  }
}

function sizeOf(extended: string | undefined, plain: number): number {
  const size = extended === undefined ? plain : Number(extended);
  if (Number.isSafeInteger(size) && size >= 0) return size;
  throw damaged('a size in it is no number');
}

function kindOf(type: string, head: { readonly target: string; readonly isProgram: boolean }) {
  if (type === '2') return { kind: 'link', target: head.target } as const;
  if (type === '0' || type === '\0') {
    return { kind: head.isProgram ? 'program' : 'file' } as const;
  }
  throw damaged(`it holds something that is neither a file nor a link (${JSON.stringify(type)})`);
}

function readHeader(block: Buffer) {
  const text = (from: number, length: number): string => {
    const field = block.subarray(from, from + length);
    const end = field.indexOf(0);
    return field.subarray(0, end === -1 ? length : end).toString('utf8');
  };
  const number = (from: number, length: number): number => {
    const digits = text(from, length).trim();
    if (!/^[0-7]*$/u.test(digits)) throw damaged('a number in it is none');
    return Number.parseInt(digits === '' ? '0' : digits, 8);
  };
  const sum = block.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== number(148, 8)) throw damaged('a header in it is not whole');
  const prefix = text(257, 5) === 'ustar' ? text(345, 155) : '';
  const name = text(0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    size: number(124, 12),
    type: text(156, 1) === '' ? '\0' : text(156, 1),
    target: text(157, 100),
    isProgram: (number(100, 8) & 0o100) !== 0,
  };
}

function readPax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, space).toString('latin1'));
    const end = at + length;
    if (space === -1 || !Number.isInteger(length) || length < 5 || end > bytes.length) {
      throw damaged('an extended header in it is not whole');
    }
    const record = bytes.subarray(space + 1, end - 1).toString('utf8');
    const equals = record.indexOf('=');
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return records;
}
