/** What the product needs from outside. Adapters implement these; pure code sees nothing else. */

export interface Clock {
  /** Wall time in ms since 1970: a label for people, never an order. */
  now(): number;
  /** Monotonic ms: for time-outs, leases and durations. */
  monotonic(): number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Structured log: `what` is a stable sentence, everything variable goes into `fields`. */
export interface Log {
  write(level: LogLevel, what: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The project's `config.json`. */
export interface SettingsFile {
  readonly path: string;
  /** The parsed file; `{}` when there is none, undefined when it is no JSON. */
  read(): unknown;
  /** Replaces the file, durably. */
  write(settings: Readonly<Record<string, unknown>>): void;
}

/** A small file of ours that is replaced as a whole, durably. */
export interface SmallFile {
  isThere(): boolean;
  read(): unknown;
  write(content: unknown): void;
  remove(): void;
}

/** A file that is not what was written. */
export interface DamagedFile {
  /** Below the state folder. */
  readonly file: string;
  readonly detail: string;
}

/** Files that can be compared with what was written to them. */
export interface CheckedFiles {
  check(): Promise<{ readonly files: number; readonly damaged: readonly DamagedFile[] }>;
}

/** One line of `doctor`. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly repaired?: boolean;
}

export interface Diagnostics {
  run(repair: boolean): Promise<Check[]>;
}

/** An address that lets one browser in. */
export interface Invitation {
  readonly url: string;
  readonly expires_at: string;
}

/** The HTTP side of the daemon, as far as the rest of it needs to know. */
export interface WebDoor {
  /** What keeps it from being open as the settings say, one sentence each. */
  warnings(): readonly string[];
  invite(): Invitation;
}
