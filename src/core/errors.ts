import { isDiskFull, isDiskTrouble, systemCode } from './system-errors.js';

/**
 * Every failure a caller may act on, and what it becomes at each border: JSON-RPC number,
 * HTTP status, exit code. Codes are public API: add, never rename.
 */
export const ERRORS = {
  PARSE_ERROR: { rpc: -32700, http: 400, exit: 2 },
  INVALID_REQUEST: { rpc: -32600, http: 400, exit: 2 },
  METHOD_NOT_FOUND: { rpc: -32601, http: 404, exit: 2 },
  INVALID_PARAMS: { rpc: -32602, http: 400, exit: 2 },
  INTERNAL: { rpc: -32603, http: 500, exit: 70 },
  // Never sent by a daemon: the client's own word for "there is none".
  DAEMON_UNAVAILABLE: { rpc: -32000, http: 503, exit: 69 },
  // Never sent by a daemon either: no browser to be found, or none where it should be.
  BROWSER_UNAVAILABLE: { rpc: -32004, http: 503, exit: 69 },
  FRAME_TOO_LARGE: { rpc: -32001, http: 413, exit: 2 },
  UNAUTHORIZED: { rpc: -32002, http: 401, exit: 77 },
  FORBIDDEN: { rpc: -32003, http: 403, exit: 77 },
  DIALOG_NOT_FOUND: { rpc: -32010, http: 404, exit: 4 },
  CHECKPOINT_NOT_FOUND: { rpc: -32011, http: 404, exit: 4 },
  SESSION_NOT_FOUND: { rpc: -32012, http: 404, exit: 4 },
  EDIT_NOT_FOUND: { rpc: -32013, http: 404, exit: 4 },
  SNAPSHOT_NOT_FOUND: { rpc: -32014, http: 404, exit: 4 },
  BOOKMARK_NOT_FOUND: { rpc: -32015, http: 404, exit: 4 },
  EVENT_NOT_FOUND: { rpc: -32016, http: 404, exit: 4 },
  MARK_NOT_FOUND: { rpc: -32017, http: 404, exit: 4 },
  AMBIGUOUS_ID: { rpc: -32018, http: 400, exit: 4 },
  EDIT_CONFLICT: { rpc: -32020, http: 409, exit: 10 },
  UNKNOWN_CHANGES: { rpc: -32021, http: 409, exit: 12 },
  STALE_READ: { rpc: -32022, http: 409, exit: 13 },
  RESTORE_BLOCKED: { rpc: -32023, http: 409, exit: 14 },
  NAME_TAKEN: { rpc: -32024, http: 409, exit: 15 },
  NAME_INVALID: { rpc: -32025, http: 400, exit: 15 },
  PATH_OUTSIDE_ROOT: { rpc: -32030, http: 400, exit: 16 },
  PATH_PROTECTED: { rpc: -32031, http: 400, exit: 16 },
  PATH_UNSUPPORTED: { rpc: -32032, http: 400, exit: 16 },
  LIMIT_EXCEEDED: { rpc: -32033, http: 413, exit: 17 },
  STORAGE_FULL: { rpc: -32040, http: 507, exit: 74 },
  STORAGE_IO: { rpc: -32041, http: 500, exit: 74 },
  STORE_CORRUPT: { rpc: -32042, http: 500, exit: 74 },
  NOT_PAUSED: { rpc: -32050, http: 409, exit: 18 },
  NO_SESSION: { rpc: -32051, http: 409, exit: 18 },
  REPLAY_DIVERGENCE: { rpc: -32060, http: 409, exit: 20 },
  RECORDING_MISSING: { rpc: -32061, http: 409, exit: 20 },
  BUSY: { rpc: -32070, http: 503, exit: 75 },
  TIMEOUT: { rpc: -32071, http: 504, exit: 75 },
  SHUTTING_DOWN: { rpc: -32072, http: 503, exit: 75 },
} as const;

export type ErrorCode = keyof typeof ERRORS;

/** What `data` of a code always has; who throws it may know better. */
const RETRYABLE = { retry_after_ms: 500 };
const MISSING = { near: [] };
const PROMISED: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, unknown>>>>> = {
  BUSY: RETRYABLE,
  TIMEOUT: RETRYABLE,
  SHUTTING_DOWN: RETRYABLE,
  DIALOG_NOT_FOUND: MISSING,
  CHECKPOINT_NOT_FOUND: MISSING,
  SESSION_NOT_FOUND: MISSING,
  EDIT_NOT_FOUND: MISSING,
  SNAPSHOT_NOT_FOUND: MISSING,
  BOOKMARK_NOT_FOUND: MISSING,
  EVENT_NOT_FOUND: MISSING,
  MARK_NOT_FOUND: MISSING,
  // No setting moves most limits.
  LIMIT_EXCEEDED: { setting: null },
};

export interface ErrorDetails {
  /** What to do next, in one sentence. */
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The `error` member of a JSON-RPC answer. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly code: string; readonly hint?: string } & Readonly<
    Record<string, unknown>
  >;
}

/** An expected failure. `message` says what happened, `hint` says what to do next. */
export class SmithyError extends Error {
  override readonly name = 'SmithyError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.data = details.data ?? {};
  }

  /**
   * A disk that refuses is nobody's bug, wherever it did. Anything else not thrown on purpose is one
   * of ours: the cause is kept, its text stays inside.
   */
  static from(thrown: unknown): SmithyError {
    if (thrown instanceof SmithyError) return thrown;
    if (isDiskTrouble(thrown)) return storageFailure(thrown);
    return new SmithyError('INTERNAL', 'The daemon hit an unexpected error.', {
      hint: 'Run `smithyd doctor`; the daemon log has the details.',
      cause: thrown,
    });
  }

  /** The other direction of `toWire`, for clients. */
  static fromWire(error: WireError): SmithyError {
    const { code, hint, ...data } = error.data;
    const known = isErrorCode(code) ? code : 'INTERNAL';
    return new SmithyError(known, error.message, { ...(hint === undefined ? {} : { hint }), data });
  }

  get exitCode(): number {
    return ERRORS[this.code].exit;
  }

  toWire(): WireError {
    const hint = this.hint === undefined ? {} : { hint: this.hint };
    return {
      code: ERRORS[this.code].rpc,
      message: this.message,
      data: { ...PROMISED[this.code], ...this.data, code: this.code, ...hint },
    };
  }
}

function storageFailure(cause: unknown): SmithyError {
  const { syscall } = Object(cause) as { syscall?: unknown };
  const reason = systemCode(cause);
  const details = {
    data: { op: typeof syscall === 'string' ? syscall : 'unknown', reason },
    cause,
  };
  if (isDiskFull(cause)) {
    return new SmithyError('STORAGE_FULL', 'There is no space left on the disk.', {
      hint: 'Free some space, then try again; nothing acknowledged is lost.',
      ...details,
    });
  }
  return new SmithyError(
    'STORAGE_IO',
    `The disk or the system refused: ${reason ?? 'no reason'}.`,
    {
      hint: 'Nothing acknowledged is lost. Look at the disk, then try again; `smithyd doctor` checks.',
      ...details,
    },
  );
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
