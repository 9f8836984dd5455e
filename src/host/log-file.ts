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
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
/** A field of a caller's making must not fill the log. */
const LONGEST_LINE = 16_384;

/** One JSON object a line. Writing is synchronous: the last line before a crash is the useful one. */
export function openLogFile(options: LogOptions): LogFile {
  const { path, clock, least, maxBytes = 5 * 1024 * 1024, kept = 3 } = options;
  let file: number | undefined = openSync(path, FLAGS, 0o600);
  let size = fstatSync(file).size;

  function rotate(): void {
    if (file !== undefined) closeSync(file);
    for (let number = kept - 1; number >= 1; number--)
      moveIfThere(`${path}.${number}`, `${path}.${number + 1}`);
    moveIfThere(path, `${path}.1`);
    file = openSync(path, FLAGS, 0o600);
    size = 0;
  }

  return {
    write(level, what, fields = {}) {
      if (file === undefined || ORDER.indexOf(level) < ORDER.indexOf(least)) return;
      const at = new Date(clock.now()).toISOString();
      const line = `${JSON.stringify({ at, level, what, ...fields }).slice(0, LONGEST_LINE)}\n`;
      try {
        if (size + line.length > maxBytes) rotate();
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

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Nothing there yet.
  }
}
