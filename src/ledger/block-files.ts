import { open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { BlockFiles, EventBlocks } from '../core/event-blocks.js';
import type { DamagedFile } from '../core/ports.js';
import { codeOf, makeFolder } from './files.js';

export interface BlockFilesOptions {
  /** `<state>/ledger`. */
  readonly ledger: string;
  /** Files that were derived with another one are not believed. */
  readonly edition: string;
}

/** A page of history is in one or two files. */
const EVENTS_PER_FILE = 1_000;
/** A million events, about 100 MB: a tenth of the lines they were derived from. */
const MOST_FILES = 1_000;
/** One line; an event of more is derived whenever it is asked for. */
const LONGEST_LINE = 16 * 1024;
const SEQ = /^[0-9a-f]{8} \{"seq":(\d+),/u;
const REACHED = /^[0-9a-f]{8} \{"reached":(\d+)\}$/u;
const FILE = /^\d{6}\.jsonl$/u;

/**
 * One file for each thousand events: the edition, then a line `CRC JSON` for each event, in the
 * order in which they were derived. Not flushed and only appended to: a line that a crash tore is
 * not believed, and what it told is derived again.
 */
export function createBlockFiles({ ledger, edition }: BlockFilesOptions): BlockFiles {
  const folder = join(ledger, 'blocks');
  const head = framed(JSON.stringify({ edition }));
  /** Files that this run has written to: their beginning and their end are known to be right. */
  const begun = new Set<string>();
  /** One append at a time. */
  let last: Promise<void> = Promise.resolve();

  async function linesOf(name: string): Promise<string[]> {
    const content = await readFile(join(folder, name), 'utf8').catch(() => '');
    const lines = content.split('\n');
    return lines[0] === head ? lines : [];
  }

  async function append(name: string, lines: readonly string[]): Promise<void> {
    const file = await open(join(folder, name), 'a+', 0o600);
    try {
      const isOurs = begun.has(name) || (await startOf(file, head.length + 1)) === `${head}\n`;
      if (!isOurs) await file.truncate(0);
      const isNew = (await file.stat()).size === 0;
      // The end that an earlier run left may be torn; an empty line is nothing.
      const start = isNew ? `${head}\n` : begun.has(name) ? '' : '\n';
      await file.appendFile(`${start}${lines.join('\n')}\n`);
      begun.add(name);
      if (isNew) await keepFew();
    } finally {
      await file.close();
    }
  }

  async function names(): Promise<string[]> {
    const all = await readdir(folder).catch(() => []);
    return all.filter((name) => FILE.test(name)).sort();
  }

  async function keepFew(): Promise<void> {
    for (const name of (await names()).slice(0, -MOST_FILES)) await rm(join(folder, name));
  }

  async function addNow(derived: readonly EventBlocks[], reached?: number): Promise<void> {
    const byFile = new Map<string, string[]>();
    const put = (seq: number, line: object): void => {
      const text = framed(JSON.stringify(line));
      if (text.length > LONGEST_LINE) return;
      const name = fileOf(seq);
      const others = byFile.get(name);
      if (others === undefined) byFile.set(name, [text]);
      else others.push(text);
    };
    // The number in front, where a look finds it.
    for (const { seq, ...rest } of derived) put(seq, { seq, ...rest });
    if (reached !== undefined) put(reached, { reached });
    for (const [name, lines] of byFile) {
      await append(name, lines).catch(async (error: unknown) => {
        if (codeOf(error) !== 'ENOENT') throw error;
        await makeFolder(folder);
        await append(name, lines);
      });
    }
  }

  return {
    async check() {
      const all = await names();
      const damaged: DamagedFile[] = [];
      for (const name of all) {
        const lines = (await readFile(join(folder, name), 'utf8').catch(() => '')).split('\n');
        const wrong = lines.filter((line) => line !== '' && unframed(line) === undefined).length;
        if (wrong === 0) continue;
        const detail = `${wrong} of its lines are not believed, and derived again when asked for`;
        damaged.push({ file: `ledger/blocks/${name}`, detail });
      }
      return { files: all.length, damaged };
    },

    async read(seqs) {
      const wanted = new Set(seqs);
      const found = new Map<number, EventBlocks>();
      for (const name of new Set(seqs.map(fileOf))) {
        for (const line of await linesOf(name)) {
          // Most lines need no check.
          const seq = Number(SEQ.exec(line)?.[1]);
          const json = wanted.has(seq) ? unframed(line) : undefined;
          if (json !== undefined) found.set(seq, JSON.parse(json) as EventBlocks);
        }
      }
      return [...found.values()];
    },

    add(derived, reached) {
      const adding = last.then(() => addNow(derived, reached));
      last = adding.catch(() => undefined);
      return adding;
    },

    async reached() {
      for (const name of (await names()).toReversed()) {
        const lines = await linesOf(name);
        const line = lines.findLast((one) => REACHED.test(one) && unframed(one) !== undefined);
        if (line !== undefined) return Number(REACHED.exec(line)?.[1]);
      }
      return 0;
    },
  };
}

function fileOf(seq: number): string {
  return `${String(Math.floor(seq / EVENTS_PER_FILE)).padStart(6, '0')}.jsonl`;
}

function framed(json: string): string {
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}`;
}

/** Undefined for anything that is not what was written. */
function unframed(line: string): string | undefined {
  const json = line.slice(9);
  return line === framed(json) ? json : undefined;
}

async function startOf(file: FileHandle, length: number): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
  return buffer.toString('utf8', 0, bytesRead);
}
