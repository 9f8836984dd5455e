import { rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { readChecked, writeChecked } from './checked-file.js';
import { Offsets } from './offsets.js';

/** Where the lines up to the end of a file lead to. */
interface Reached {
  readonly seq: number;
  readonly hash: string;
  readonly events: number;
}

/** One file as it was when all of it was known to be sound. */
export interface SegmentFacts {
  readonly name: string;
  readonly bytes: number;
  readonly inode: string;
  /** ctime in ns: no program can set it back. */
  readonly changed: string;
  readonly reached: Reached;
}

export interface Remembered {
  readonly files: readonly SegmentFacts[];
  readonly offsets: Offsets;
}

interface Subject {
  readonly name: string;
  readonly file: FileHandle;
  readonly size: number;
}

const FORMAT = 1;
/** The file's name. */
export const REMEMBERED = 'segments.bin';
/** A change so shortly before the facts were taken might not show in the file's time. */
const TICK_NS = 50_000_000n;

/**
 * What the next start need not read: which files are sound, and where in them lines begin. One line
 * of JSON, then the two columns of the offsets.
 */
export async function remember(
  folder: string,
  subjects: readonly (Subject & { readonly reached: Reached })[],
  { seqs, offsets }: Offsets,
): Promise<void> {
  const last = subjects.at(-1)?.reached.seq ?? 0;
  const count = seqs.firstNotBelow(last + 1);
  const columns = [seqs.bytes(0, count), offsets.bytes(0, count)];
  const files: SegmentFacts[] = [];
  for (const { name, file, reached } of subjects) {
    files.push({ name, ...(await factsOf(file)), reached });
  }
  const head = Buffer.from(`${JSON.stringify({ format: FORMAT, files, offsets: count })}\n`);
  await writeChecked(join(folder, REMEMBERED), [head, ...columns]);
}

/** When there is little to read, nothing is remembered. */
export function forget(folder: string): Promise<void> {
  return rm(join(folder, REMEMBERED), { force: true });
}

/**
 * The first of these files that are as they were, as many as there are.
 *
 * @throws Error when what was remembered is damaged.
 */
export async function recall(
  folder: string,
  subjects: readonly Subject[],
): Promise<Remembered | undefined> {
  const bytes = await readChecked(join(folder, REMEMBERED));
  if (bytes === undefined) return undefined;
  const writtenAt = (await stat(join(folder, REMEMBERED), { bigint: true })).mtimeNs;
  const start = bytes.indexOf('\n') + 1;
  const head = JSON.parse(bytes.toString('utf8', 0, start)) as {
    readonly format: number;
    readonly files: readonly SegmentFacts[];
    readonly offsets: number;
  };
  if (head.format !== FORMAT) return undefined;
  const files: SegmentFacts[] = [];
  for (const [number, facts] of head.files.entries()) {
    const subject = subjects[number];
    if (subject?.name !== facts.name) break;
    const now = await factsOf(subject.file);
    const isSame =
      now.bytes === facts.bytes && now.inode === facts.inode && now.changed === facts.changed;
    if (!isSame || BigInt(facts.changed) + TICK_NS > writtenAt) break;
    files.push(facts);
  }
  const offsets = new Offsets();
  const middle = start + head.offsets * offsets.seqs.width;
  offsets.seqs.append(bytes.subarray(start, middle));
  offsets.offsets.append(bytes.subarray(middle));
  return { files, offsets };
}

async function factsOf(file: FileHandle) {
  const { size, ino, ctimeNs } = await file.stat({ bigint: true });
  return { bytes: Number(size), inode: String(ino), changed: String(ctimeNs) };
}
