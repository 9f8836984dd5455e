import type { FileHandle } from 'node:fs/promises';
import { SmithyError } from '../core/errors.js';
import {
  NewEvent,
  placed,
  type Ledger,
  type LedgerCheck,
  type LedgerDamage,
  type LedgerEntry,
  type LedgerHead,
  type LedgerQuery,
  type RecoveryReport,
} from '../core/ledger.js';
import { isDiskFull } from '../core/system-errors.js';
import { SMALL_CHUNK } from './chunks.js';
import { diskIo, messageOf, type LedgerIo } from './files.js';
import { checkLine, claimedSeq, decodeLine, encodeLine, hashLine, NO_HASH } from './line.js';
import { Offsets } from './offsets.js';
import { Scanner } from './scan.js';
import { openSegments, type Segments } from './segments.js';

export interface LedgerOptions {
  /** `<state>/ledger`. */
  readonly folder: string;
  readonly io?: Partial<LedgerIo>;
  /** A file of this size is full. */
  readonly segmentBytes?: number;
}

interface Waiting {
  readonly events: readonly ReturnType<typeof NewEvent.parse>[];
  readonly resolve: (entries: LedgerEntry[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch as it goes to the disk, and the position it leads to. */
interface Batch {
  readonly bytes: Buffer;
  readonly groups: LedgerEntry[][];
  readonly places: { seq: number; offset: number }[];
  readonly head: LedgerHead;
}

const READ_BYTES = 4 * 1024 * 1024;
/** What a start after a crash has to read takes half a second. */
const SEGMENT_BYTES = 64 * 1024 * 1024;
/** Lines that are likely to be in one small piece of the file. */
const FEW = 32;
/** More than this in one write only makes the first caller wait for the last. */
const BATCH_EVENTS = 4096;

export function createLedger(options: LedgerOptions): Ledger {
  const { folder, segmentBytes = SEGMENT_BYTES } = options;
  const io: LedgerIo = { ...diskIo, ...options.io };
  let segments: Segments | undefined;
  let events = 0;
  let head: LedgerHead = { seq: 0, hash: NO_HASH };
  let offsets = new Offsets();
  /** When the file is due to be full. */
  let fullAt = segmentBytes;
  /** Why nothing more is acknowledged. */
  let suspect: SmithyError | undefined;
  const waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;

  async function open(): Promise<RecoveryReport> {
    await close();
    const { found, report, ...opened } = await openSegments(folder, io).catch((error: unknown) => {
      throw failure('open', error);
    });
    ({ head, offsets, events } = found);
    segments = opened.segments;
    fullAt = segmentBytes;
    suspect = undefined;
    return report;
  }

  function append(given: readonly NewEvent[]): Promise<LedgerEntry[]> {
    const parsed = given.map((event) => NewEvent.parse(event));
    if (parsed.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      waiting.push({ events: parsed, resolve, reject });
      writing ??= drain();
    });
  }

  /** One write and one flush for everybody who came while the last ones were under way. */
  async function drain(): Promise<void> {
    // A turn of the loop first: callers of the same moment share the flush.
    await Promise.resolve();
    while (waiting.length > 0) {
      const turn = takeTurn();
      try {
        const batch = layOut(turn);
        await commit(batch);
        turn.forEach(({ resolve }, number) => resolve(batch.groups[number] ?? []));
      } catch (error) {
        for (const { reject } of turn) reject(error);
      }
    }
    // In the same turn as the last look at the queue, or an append in between would wait for ever.
    writing = undefined;
  }

  function takeTurn(): Waiting[] {
    let count = 0;
    const end = waiting.findIndex((one) => (count += one.events.length) > BATCH_EVENTS);
    return waiting.splice(0, end === -1 ? waiting.length : Math.max(1, end));
  }

  function layOut(turn: readonly Waiting[]): Batch {
    let { seq, hash } = head;
    let offset = segments?.bytes ?? 0;
    const lines: Buffer[] = [];
    const places: Batch['places'] = [];
    const groups = turn.map((one) =>
      one.events.map((event, number) => {
        seq++;
        const entry = placed(event, seq, hash);
        const line = encodeLine(entry, one.events.length - 1 - number);
        hash = hashLine(line);
        places.push({ seq, offset });
        lines.push(line, LINE_END);
        offset += line.length + 1;
        return entry;
      }),
    );
    return { bytes: Buffer.concat(lines), groups, places, head: { seq, hash } };
  }

  function requireSound(): void {
    if (suspect !== undefined) throw suspect;
  }

  async function commit(batch: Batch): Promise<void> {
    requireSound();
    if (segments === undefined) throw failure('append', new Error('the ledger is not open'));
    if (segments.size >= fullAt) await rotate(segments);
    const { file, size } = segments;
    await writeAll(file, size, batch.bytes);
    try {
      await io.flush(file);
    } catch (error) {
      // What the kernel could not write it may have forgotten: a second flush that succeeds
      // proves nothing. Drop the lines and say so until somebody looks.
      await io.truncate(file, size).catch(() => undefined);
      throw (suspect = failure('flush', error));
    }
    segments.grown(batch.bytes.length);
    events += batch.places.length;
    head = batch.head;
    for (const { seq, offset } of batch.places) offsets.add(seq, offset);
  }

  /** Between two batches; those who wait for the next one hardly notice. */
  async function rotate(full: Segments): Promise<void> {
    try {
      const isDone = await full.rotate(head, events);
      fullAt = isDone ? segmentBytes : full.size + segmentBytes / 8;
      if (isDone) void full.remember(offsets);
    } catch (error) {
      throw (suspect = failure('rotate', error));
    }
  }

  async function writeAll(target: FileHandle, size: number, bytes: Buffer): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        done += await io.write(target, bytes.subarray(done), size + done);
      }
    } catch (error) {
      const why = failure('append', error);
      const isCut = await io.truncate(target, size).then(
        () => true,
        () => false,
      );
      // With the old end back in place a full disk is only a refusal.
      if (why.code !== 'STORAGE_FULL' || !isCut) suspect = failure('append', error, 'STORAGE_IO');
      throw suspect ?? why;
    }
  }

  async function read(query: LedgerQuery): Promise<LedgerEntry[]> {
    const { after = 0, limit, maxBytes = READ_BYTES } = query;
    const entries: LedgerEntry[] = [];
    if (segments === undefined || limit <= 0 || after >= head.seq) return entries;
    let bytes = 0;
    let reached = after;
    const chunk = limit <= FEW ? { chunk: SMALL_CHUNK } : {};
    for await (const line of segments.linesFrom(offsets.before(after), chunk)) {
      // Most of those before it need no check; a line that is there twice counts once.
      const claimed = claimedSeq(line.bytes) ?? 0;
      if (claimed <= reached || checkLine(line.bytes) === undefined) continue;
      reached = claimed;
      bytes += line.bytes.length;
      if (entries.length > 0 && bytes > maxBytes) break;
      entries.push(decodeLine(line.bytes));
      if (entries.length >= limit) break;
    }
    return entries;
  }

  async function hashOf(seq: number): Promise<string | undefined> {
    if (seq === head.seq) return head.hash;
    const start = offsets.before(seq - 1);
    for await (const line of segments?.linesFrom(start, { chunk: SMALL_CHUNK }) ?? []) {
      const claimed = claimedSeq(line.bytes) ?? 0;
      if (claimed === seq && checkLine(line.bytes) !== undefined) return hashLine(line.bytes);
      if (claimed > seq) break;
    }
    return undefined;
  }

  async function verify(): Promise<LedgerCheck> {
    if (segments === undefined) throw failure('verify', new Error('the ledger is not open'));
    const files = segments.files();
    const { seq, hash } = head;
    const scanner = new Scanner();
    for (const file of files) await scanner.take(file);
    const found = scanner.finish();
    const { events: count } = found;
    const spoilt = await segments.whyNotRemembered();
    const damage = [...spoilt, ...found.damage];
    const damageCount = found.damageCount + spoilt.length;
    const last = files.at(-1);
    const isWhole =
      found.goodBytes === last?.size && found.head.seq === seq && found.head.hash === hash;
    const looked = { events: count, files: files.length };
    if (isWhole) return { ...looked, damage, damageCount };
    const cut: LedgerDamage = {
      kind: 'bad_line',
      file: last?.name ?? '',
      line: count + 1,
      offset: found.goodBytes,
      detail: 'the end is not what was written',
    };
    return { ...looked, damage: [...damage, cut], damageCount: damageCount + 1 };
  }

  async function close(): Promise<void> {
    await writing;
    const closing = segments;
    segments = undefined;
    // After a failure nothing is sure but what the next start reads.
    if (suspect === undefined) await closing?.remember(offsets, { ...head, events });
    await closing?.close();
  }

  const stats = () => ({ events, bytes: segments?.bytes ?? 0 });
  return { open, append, requireSound, head: () => head, read, hashOf, verify, stats, close };
}

const LINE_END = Buffer.from('\n');

function failure(op: string, cause: unknown, as?: 'STORAGE_IO'): SmithyError {
  const isFull = as === undefined && isDiskFull(cause);
  const why = messageOf(cause);
  return isFull
    ? new SmithyError('STORAGE_FULL', `There is no space for the ledger: ${why}.`, {
        hint: 'Free some space and try again; nothing was written.',
        data: { op: `ledger.${op}` },
        cause,
      })
    : new SmithyError('STORAGE_IO', `The ledger cannot be written: ${why}.`, {
        hint: 'Nothing acknowledged is lost. Check the disk, then restart the daemon.',
        data: { op: `ledger.${op}` },
        cause,
      });
}
