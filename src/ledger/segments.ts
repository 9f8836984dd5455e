import { readdir, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { LedgerDamage, LedgerHead, RecoveryReport } from '../core/ledger.js';
import { linesOf, type PlacedLine, type Stretch } from './chunks.js';
import {
  createFresh,
  messageOf,
  openLedgerFile,
  openSealed,
  quarantine,
  type LedgerIo,
} from './files.js';
import type { Offsets } from './offsets.js';
import {
  forget,
  recall,
  remember,
  REMEMBERED,
  type Remembered,
  type SegmentFacts,
} from './remembered.js';
import { NOTHING_BEFORE, Scanner, type Before, type Scan, type ScannedFile } from './scan.js';

const ACTIVE = 'events.jsonl';
const FRESH = 'events.next';
/** Less than this is read in no time. */
const WORTH_BYTES = 1024 * 1024;
const SEALED = /^events-(\d{6,12})\.jsonl$/u;

/** The files of a ledger that was opened, and what is in them. */
export interface Opened {
  readonly segments: Segments;
  readonly found: Before;
  readonly report: RecoveryReport;
}

/** A file that is full, and where the lines up to its end lead to. */
interface Sealed extends ScannedFile {
  readonly reached: SegmentFacts['reached'];
  readonly isSound: boolean;
}

/**
 * The ledger's files in their order: full ones, which never change again, and the one that is
 * written to. What was read once and has not been touched since is not read again at the next start.
 */
export async function openSegments(folder: string, io: LedgerIo): Promise<Opened> {
  const { file, size, created } = await openLedgerFile(join(folder, ACTIVE));
  const handles = [file];
  try {
    // Left by a change of files that was cut off; nothing was ever written to it.
    await rm(join(folder, FRESH), { force: true });
    const files: ScannedFile[] = [];
    let base = 0;
    for (const name of await sealedNames(folder)) {
      const full = await openSealed(join(folder, name));
      handles.push(full.file);
      files.push({ name, ...full, base, isSealed: true });
      base += full.size;
    }
    const active = { name: ACTIVE, file, size, base, isSealed: false };
    const { scan, sealed, isActiveSound, isNews } = await look(folder, [...files, active]);
    const cutBytes = size - scan.goodBytes;
    let quarantined: string | null = null;
    if (cutBytes > 0) {
      quarantined = await quarantine(file, scan.goodBytes, folder);
      await file.truncate(scan.goodBytes);
      await file.sync();
    }
    const { damage, damageCount } = scan;
    const segments = new Segments({ folder, io }, sealed, {
      ...{ file, size: scan.goodBytes, base, isSound: isActiveSound },
    });
    // Or a crash would make the start after it read them all again.
    if (isNews) void segments.remember(scan.offsets);
    const isNew = created && files.length === 0;
    const report = { created: isNew, cutBytes, quarantined, damage, damageCount };
    return { segments, found: scan, report };
  } catch (error) {
    for (const handle of handles) await handle.close();
    throw error;
  }
}

/** In the order of their numbers, which have leading zeros up to six digits only. */
async function sealedNames(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => SEALED.test(name));
  return names.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

interface Look {
  readonly scan: Scan;
  readonly sealed: Sealed[];
  readonly isActiveSound: boolean;
  /** Full files were read that were not remembered. */
  readonly isNews: boolean;
}

/** Reads what is not remembered. */
async function look(folder: string, files: readonly ScannedFile[]): Promise<Look> {
  const remembered = await recall(folder, files).catch(() => undefined);
  const before = remembered === undefined ? NOTHING_BEFORE() : beginning(remembered);
  const known = remembered?.files ?? [];
  const sealed: Sealed[] = [];
  const scanner = new Scanner(before);
  let isActiveSound = true;
  for (const [number, file] of files.entries()) {
    const facts = known[number];
    const before = scanner.damageCount;
    if (facts === undefined) await scanner.take(file);
    const isSound = scanner.damageCount === before;
    if (!file.isSealed) isActiveSound = isSound;
    else sealed.push({ ...file, reached: facts?.reached ?? scanner.position, isSound });
  }
  const soundSoFar = scanner.damageCount;
  const scan = scanner.finish();
  if (known.length < files.length) {
    const isSound = isActiveSound && scan.damageCount === soundSoFar;
    const isNews = known.length < sealed.length;
    return { scan, sealed, isActiveSound: isSound, isNews };
  }
  const goodBytes = files.at(-1)?.size ?? 0;
  return { scan: { ...scan, goodBytes }, sealed, isActiveSound, isNews: false };
}

function beginning({ files, offsets }: Remembered): Before {
  const reached = files.at(-1)?.reached;
  if (reached === undefined) return NOTHING_BEFORE();
  const { seq, hash, events } = reached;
  offsets.cut(seq);
  return { head: { seq, hash }, events, offsets };
}

interface Place {
  readonly folder: string;
  readonly io: LedgerIo;
}

interface Active {
  readonly file: FileHandle;
  size: number;
  readonly base: number;
  readonly isSound: boolean;
}

export class Segments {
  readonly #place: Place;
  readonly #sealed: Sealed[];
  #active: Active;
  #remembering: Promise<void> = Promise.resolve();

  constructor(place: Place, sealed: Sealed[], active: Active) {
    this.#place = place;
    this.#sealed = sealed;
    this.#active = active;
  }

  /** The one that is written to. */
  get file(): FileHandle {
    return this.#active.file;
  }

  /** Its size. */
  get size(): number {
    return this.#active.size;
  }

  /** Of all files. */
  get bytes(): number {
    return this.#active.base + this.#active.size;
  }

  grown(bytes: number): void {
    this.#active.size += bytes;
  }

  files(): ScannedFile[] {
    const { file, size, base } = this.#active;
    return [...this.#sealed, { name: ACTIVE, file, size, base, isSealed: false }];
  }

  /** Counted through all files. */
  async *linesFrom(start: number, { chunk }: Pick<Stretch, 'chunk'>): AsyncGenerator<PlacedLine> {
    for (const { file, size, base } of this.files()) {
      if (base + size <= start) continue;
      const piece = chunk === undefined ? {} : { chunk };
      yield* linesOf(file, { start: Math.max(0, start - base), end: size, ...piece });
    }
  }

  /**
   * Goes on in an empty file. Each step leaves names under which every line is found; the new name is
   * durable before anything is written under it. False: not now, the old file is as it was.
   *
   * @throws Error when it cannot be said which names are on the disk.
   */
  async rotate(head: LedgerHead, events: number): Promise<boolean> {
    const { folder, io } = this.#place;
    const [active, fresh] = [join(folder, ACTIVE), join(folder, FRESH)];
    const last = SEALED.exec(this.#sealed.at(-1)?.name ?? '')?.[1] ?? '0';
    const name = `events-${String(Number(last) + 1).padStart(6, '0')}.jsonl`;
    const file = await createFresh(fresh).catch(() => undefined);
    if (file === undefined) return false;
    try {
      await io.rename(active, join(folder, name));
    } catch {
      await file.close();
      return false;
    }
    try {
      await io.rename(fresh, active);
      await io.flushFolder(folder);
    } catch (error) {
      await file.close();
      throw error;
    }
    const { isSound } = this.#active;
    const sealed = { name, isSealed: true, reached: { ...head, events }, isSound };
    const { size, base } = this.#active;
    this.#sealed.push({ file: this.#active.file, size, base, ...sealed });
    this.#active = { file, size: 0, base: base + size, isSound: true };
    return true;
  }

  /** For the next start, when that is worth it. When it fails that one reads more; nothing else comes of it. */
  remember(offsets: Offsets, reached?: SegmentFacts['reached']): Promise<void> {
    if (this.#sealed.length === 0 && this.size < WORTH_BYTES) {
      return forget(this.#place.folder).catch(() => undefined);
    }
    const { folder } = this.#place;
    const unsound = this.#sealed.findIndex(({ isSound }) => !isSound);
    const facts = unsound === -1 ? [...this.#sealed] : this.#sealed.slice(0, unsound);
    const { isSound } = this.#active;
    const active = this.files().at(-1);
    const isWhole = unsound === -1 && isSound && reached !== undefined && active !== undefined;
    const all = isWhole ? [...facts, { ...active, reached }] : facts;
    this.#remembering = this.#remembering.then(() =>
      remember(folder, all, offsets).catch(() => undefined),
    );
    return this.#remembering;
  }

  /** Nothing depends on it, but whoever looks for a failing disk wants to know. */
  async whyNotRemembered(): Promise<LedgerDamage[]> {
    await this.#remembering;
    try {
      await recall(this.#place.folder, []);
      return [];
    } catch (error) {
      const detail = `${messageOf(error)}; it is made again when the daemon stops`;
      return [{ kind: 'bad_file', file: REMEMBERED, line: 0, offset: 0, detail }];
    }
  }

  async close(): Promise<void> {
    await this.#remembering;
    for (const { file } of this.files()) await file.close();
  }
}
