import { constants } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { DerivedFiles } from '../core/derived.js';
import { readChecked, writeChecked } from './checked-file.js';
import { makeFolder, messageOf } from './files.js';

const LINES = 'derived.jsonl';
const PIECES = 'index.bin';
const FRAME_BYTES = 8;
/** Lines are gathered up to about this before they are written. */
const BLOCK_CHARS = 64 * 1024;

/** How far the pieces go, and the checksum over all of them. */
interface End {
  readonly bytes: number;
  readonly crc: number;
}

const NOTHING: End = { bytes: 0, crc: 0 };

/**
 * Two files: one of lines, replaced as a whole, whose first line says how far the other one counts;
 * and one that only grows. A piece in it is its length and the checksum of all pieces up to its end,
 * both 32 bits, little-endian, and then its bytes.
 */
export function createDerivedFiles(folder: string): DerivedFiles {
  const [linesPath, piecesPath] = [join(folder, LINES), join(folder, PIECES)];
  let end: End = NOTHING;

  async function readLines(): Promise<string[] | undefined> {
    try {
      const content = await readChecked(linesPath);
      return content?.toString().split('\n').slice(0, -1);
    } catch (error) {
      throw new Damaged(LINES, error);
    }
  }

  async function readPieces(expected: End): Promise<Uint8Array[]> {
    try {
      const flag = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const bytes = expected.bytes === 0 ? Buffer.alloc(0) : await readFile(piecesPath, { flag });
      return piecesIn(bytes.subarray(0, expected.bytes), expected);
    } catch (error) {
      throw new Damaged(PIECES, error);
    }
  }

  return {
    async check() {
      try {
        const [first] = (await readLines()) ?? [];
        if (first === undefined) return { files: 0, damaged: [] };
        await readPieces(JSON.parse(first) as End);
        return { files: 2, damaged: [] };
      } catch (error) {
        if (!(error instanceof Damaged)) throw error;
        return { files: 2, damaged: [{ file: error.file, detail: error.why }] };
      }
    },

    async read() {
      const [first, ...lines] = (await readLines()) ?? [];
      if (first === undefined) return undefined;
      const found = JSON.parse(first) as End;
      const pieces = await readPieces(found);
      end = found;
      return { lines, pieces };
    },

    async write(lines, { isAnew, pieces }) {
      await makeFolder(folder);
      const reached = await appendPieces(piecesPath, isAnew ? NOTHING : end, pieces);
      await writeChecked(linesPath, blocks(reached, lines));
      end = reached;
    },
  };
}

async function appendPieces(path: string, from: End, pieces: Iterable<Uint8Array>): Promise<End> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  const file = await open(path, flags, 0o600);
  try {
    let { bytes, crc } = from;
    for (const piece of pieces) {
      crc = crc32(piece, crc);
      const frame = Buffer.alloc(FRAME_BYTES);
      frame.writeUInt32LE(piece.length, 0);
      frame.writeUInt32LE(crc, 4);
      await writeAt(file, Buffer.concat([frame, piece]), bytes);
      bytes += FRAME_BYTES + piece.length;
    }
    await file.truncate(bytes);
    await file.datasync();
    return { bytes, crc };
  } finally {
    await file.close();
  }
}

async function writeAt(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** @throws Error when one of them is not what was written. */
function piecesIn(bytes: Buffer, expected: End): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let crc = 0;
  for (let at = 0; at < expected.bytes;) {
    if (at + FRAME_BYTES > bytes.length) throw new Error('it is too short');
    const length = bytes.readUInt32LE(at);
    const piece = bytes.subarray(at + FRAME_BYTES, at + FRAME_BYTES + length);
    crc = crc32(piece, crc);
    if (piece.length !== length || crc !== bytes.readUInt32LE(at + 4)) {
      throw new Error(`what is at byte ${at} is not what was written`);
    }
    pieces.push(piece);
    at += FRAME_BYTES + length;
  }
  if (crc !== expected.crc) throw new Error(`it does not belong to ${LINES}`);
  return pieces;
}

async function* blocks(reached: End, lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let block = `${JSON.stringify(reached)}\n`;
  for await (const line of lines) {
    block += `${line}\n`;
    if (block.length < BLOCK_CHARS) continue;
    yield Buffer.from(block);
    block = '';
  }
  yield Buffer.from(block);
}

class Damaged extends Error {
  readonly file: string;
  readonly why: string;

  constructor(name: string, cause: unknown) {
    const why = messageOf(cause);
    super(`ledger/${name}: ${why}`, { cause });
    this.file = `ledger/${name}`;
    this.why = why;
  }
}
