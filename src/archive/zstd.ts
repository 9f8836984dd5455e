import type { Zstd } from '@hpcc-js/wasm-zstd';
import { damaged } from './damage.js';
import { Inflow } from './inflow.js';

/**
 * Each piece is a frame of its own, which zstd reads as one stream: nothing is remembered between
 * two calls, so several archives can be made at once.
 */
const FRAME_BYTES = 512 * 1024;

const MAGIC = 0xfd2fb528;
/** Frames with these magic numbers hold no content. */
const SKIPPABLE = 0x184d2a50;
/** The format has none that is larger, compressed or not. */
const MOST_BLOCK_BYTES = 128 * 1024;
/** More memory than this no frame may ask for: `zstd --long` is refused. */
const MOST_WINDOW_BYTES = 32 * 1024 * 1024;

/** Loaded when first needed: few ever make an archive. */
async function load(): Promise<Zstd> {
  return (await import('@hpcc-js/wasm-zstd')).Zstd.load();
}

export async function* compressed(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zstd = await load();
  const waiting = new Uint8Array(FRAME_BYTES);
  let length = 0;
  for await (const chunk of plain) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + FRAME_BYTES - length);
      waiting.set(part, length);
      length += part.length;
      at += part.length;
      if (length < FRAME_BYTES) continue;
      yield zstd.compress(waiting);
      length = 0;
    }
  }
  if (length > 0) yield zstd.compress(waiting.subarray(0, length));
}

/** One at a time: the decoder remembers what came before. */
let isBusy: Promise<unknown> = Promise.resolve();

/**
 * Block after block, at most 128 KiB of content each: however well something was compressed, no
 * more than that comes out between two looks at how much there is.
 */
export async function* decompressed(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zstd = await load();
  const before = isBusy;
  let release: () => void = () => undefined;
  isBusy = new Promise<void>((done) => (release = done));
  await before;
  try {
    const inflow = new Inflow(packed);
    for (let magic = await inflow.peek(4); magic !== undefined; magic = await inflow.peek(4)) {
      yield* frame(zstd, inflow, magic.readUInt32LE());
    }
    if (!(await inflow.isAtEnd())) throw damaged('it ends in the middle');
  } finally {
    release();
  }
}

async function* frame(zstd: Zstd, inflow: Inflow, magic: number): AsyncGenerator<Uint8Array> {
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE) {
    const size = (await inflow.take(8)).readUInt32LE(4);
    for (let left = size; left > 0; left -= MOST_BLOCK_BYTES) {
      await inflow.take(Math.min(left, MOST_BLOCK_BYTES));
    }
    return;
  }
  if (magic !== MAGIC) throw damaged('it is not zstd');
  zstd.reset();
  let due: Uint8Array = await header(inflow);
  const { hasChecksum } = described(due[4] ?? 0);
  for (let isLast = false; !isLast;) {
    const head = await inflow.take(3);
    const word = head.readUIntLE(0, 3);
    isLast = (word & 1) === 1;
    const isRepeated = ((word >> 1) & 3) === 1;
    const size = isRepeated ? 1 : word >> 3;
    if (size > MOST_BLOCK_BYTES) throw damaged('it is no proper zstd');
    const rest = await inflow.take(size + (isLast && hasChecksum ? 4 : 0));
    due = Buffer.concat([due, head, rest]);
    const out = feed(zstd, due);
    due = new Uint8Array(0);
    if (out.length > 0) yield out;
  }
}

function feed(zstd: Zstd, bytes: Uint8Array): Uint8Array {
  try {
    return zstd.decompressChunk(bytes, 2 * MOST_BLOCK_BYTES);
  } catch (error) {
    throw damaged(`it is no proper zstd: ${String(error).slice(0, 200)}`);
  }
}

async function header(inflow: Inflow): Promise<Buffer> {
  const start = await inflow.take(5);
  const { windowBytes, dictionaryBytes, sizeBytes } = described(start[4] ?? 0);
  const rest = await inflow.take(windowBytes + dictionaryBytes + sizeBytes);
  const window = rest[0] ?? 0;
  const base = 2 ** (10 + (window >> 3));
  if (windowBytes === 1 && base + (base / 8) * (window & 7) > MOST_WINDOW_BYTES) {
    throw damaged('it asks for too much memory');
  }
  return Buffer.concat([start, rest]);
}

/** What the descriptor says of the header's other fields. */
function described(descriptor: number) {
  const isSingle = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  return {
    windowBytes: isSingle ? 0 : 1,
    dictionaryBytes: [0, 1, 2, 4][descriptor & 3] ?? 0,
    sizeBytes: sizeFlag === 0 ? (isSingle ? 1 : 0) : 2 ** sizeFlag,
    hasChecksum: (descriptor & 4) !== 0,
  };
}
