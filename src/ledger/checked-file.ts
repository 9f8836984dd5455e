import { constants } from 'node:fs';
import { open, readFile, rename, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { codeOf, flushFolder } from './files.js';

/** After the content: its CRC-32 as eight hex digits and a line end. */
const TRAILER_BYTES = 9;

/**
 * Replaces a file that can be made again at any time, so that a crash leaves the old or the new one.
 * What comes piece by piece is written so.
 */
export async function writeChecked(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const draft = `${path}.part`;
  const file = await open(
    draft,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    let crc = 0;
    for await (const piece of pieces) {
      crc = crc32(piece, crc);
      await writeWhole(file, piece);
    }
    await writeWhole(file, Buffer.from(`${hex(crc)}\n`));
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await flushFolder(dirname(path));
}

/**
 * The content; undefined when there is no such file.
 *
 * @throws Error when it is not what was written.
 */
export async function readChecked(path: string): Promise<Buffer | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path, {
      flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const end = Math.max(0, bytes.length - TRAILER_BYTES);
  const content = bytes.subarray(0, end);
  if (bytes.toString('latin1', end) !== `${hex(crc32(content))}\n`) {
    throw new Error('its content is not what was written');
  }
  return content;
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += (await file.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}

function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0');
}
