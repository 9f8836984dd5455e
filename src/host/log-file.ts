import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Clock, Log, LogLevel } from '../core/ports.js';

export interface LogFile extends Log {
  close(): void;
}

export interface LogOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly least: LogLevel;
  /** Beyond it the file is moved to `.1`, and so on up to `kept`. */
  readonly maxBytes?: number;
  readonly kept?: number;
  /** Runs over every text: secrets must not get into it. */
  readonly clean?: (text: string) => string;
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
/** A field of a caller's making must not fill the log. */
const LONGEST_LINE = 16_384;
const LONGEST_TEXT = 2048;

/** One JSON object a line. Writing is synchronous: the last line before a crash is the useful one. */
export function openLogFile(options: LogOptions): LogFile {
  const { path, clock, least, maxBytes = 5 * 1024 * 1024, kept = 3 } = options;
  const { clean = (text: string) => text } = options;
  let file: number | undefined = openSync(path, FLAGS, 0o600);
  let size = fstatSync(file).size;

  function rotate(): void {
    const old = file;
    for (let number = kept - 1; number >= 1; number--)
      moveIfThere(`${path}.${number}`, `${path}.${number + 1}`);
    moveIfThere(path, `${path}.1`);
    file = openSync(path, FLAGS, 0o600);
    size = 0;
    // Last: had opening failed, a closed number could by now be somebody else's file.
    if (old !== undefined) closeSync(old);
  }

  return {
    write(level, what, fields = {}) {
      if (file === undefined || ORDER.indexOf(level) < ORDER.indexOf(least)) return;
      const at = new Date(clock.now()).toISOString();
      const line = toLine({ at, level, what, ...fields }, clean);
      try {
        if (size + Buffer.byteLength(line) > maxBytes) rotate();
        size += writeSync(file, line);
      } catch {
        // A full disk must not take the daemon down because of its log.
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Whatever the fields hold, the line is one JSON object. */
function toLine(
  entry: { at: string; level: LogLevel; what: string },
  clean: (text: string) => string,
): string {
  const whole = JSON.stringify(entry, (_, value: unknown) => {
    return typeof value === 'string' ? clean(value) : value;
  });
  if (whole.length <= LONGEST_LINE) return `${whole}\n`;
  const shorter = JSON.stringify(entry, (_, value: unknown) => {
    return typeof value === 'string' ? clean(value).slice(0, LONGEST_TEXT) : value;
  });
  const { at, level, what } = entry;
  const bare = { at, level, what: what.slice(0, LONGEST_TEXT), cut: true };
  return `${shorter.length <= LONGEST_LINE ? shorter : JSON.stringify(bare)}\n`;
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Nothing there yet.
  }
}
