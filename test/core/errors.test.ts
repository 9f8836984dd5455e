import { describe, expect, it } from '@jest/globals';
import { ERRORS, SmithyError, type ErrorCode } from '../../src/core/errors.js';

/** The contract's table: what programs outside rely on. */
const CONTRACT: Readonly<
  Partial<Record<ErrorCode, readonly [rpc: number, http: number, exit: number]>>
> = {
  PARSE_ERROR: [-32700, 400, 2],
  INVALID_REQUEST: [-32600, 400, 2],
  METHOD_NOT_FOUND: [-32601, 404, 2],
  INVALID_PARAMS: [-32602, 400, 2],
  INTERNAL: [-32603, 500, 70],
  FRAME_TOO_LARGE: [-32001, 413, 2],
  UNAUTHORIZED: [-32002, 401, 77],
  FORBIDDEN: [-32003, 403, 77],
  DIALOG_NOT_FOUND: [-32010, 404, 4],
  MARK_NOT_FOUND: [-32017, 404, 4],
  AMBIGUOUS_ID: [-32018, 400, 4],
  EDIT_CONFLICT: [-32020, 409, 10],
  UNKNOWN_CHANGES: [-32021, 409, 12],
  STALE_READ: [-32022, 409, 13],
  RESTORE_BLOCKED: [-32023, 409, 14],
  NAME_TAKEN: [-32024, 409, 15],
  NAME_INVALID: [-32025, 400, 15],
  PATH_OUTSIDE_ROOT: [-32030, 400, 16],
  PATH_UNSUPPORTED: [-32032, 400, 16],
  LIMIT_EXCEEDED: [-32033, 413, 17],
  STORAGE_FULL: [-32040, 507, 74],
  STORAGE_IO: [-32041, 500, 74],
  STORE_CORRUPT: [-32042, 500, 74],
  NOT_PAUSED: [-32050, 409, 18],
  NO_SESSION: [-32051, 409, 18],
  REPLAY_DIVERGENCE: [-32060, 409, 20],
  RECORDING_MISSING: [-32061, 409, 20],
  BUSY: [-32070, 503, 75],
  TIMEOUT: [-32071, 504, 75],
  SHUTTING_DOWN: [-32072, 503, 75],
};

describe('an error', () => {
  it('has the numbers the contract gives it', () => {
    for (const [code, [rpc, http, exit]] of Object.entries(CONTRACT)) {
      expect({ code, ...ERRORS[code as ErrorCode] }).toEqual({ code, rpc, http, exit });
    }
    expect(ERRORS.DAEMON_UNAVAILABLE.exit).toBe(69);
  });

  it('has a JSON-RPC number of its own', () => {
    const numbers = Object.values(ERRORS).map(({ rpc }) => rpc);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('is the same after a journey over the wire', () => {
    const sent = new SmithyError('BUSY', 'Later.', { hint: 'Wait.', data: { retry_after_ms: 5 } });
    const wire = JSON.parse(JSON.stringify(sent.toWire())) as ReturnType<SmithyError['toWire']>;
    const { code, message, hint, data, exitCode } = SmithyError.fromWire(wire);
    expect({ code, message, hint, data, exitCode }).toEqual({
      code: 'BUSY',
      message: 'Later.',
      hint: 'Wait.',
      data: { retry_after_ms: 5 },
      exitCode: 75,
    });
  });

  it.each([
    ['BUSY', {}, { retry_after_ms: 500 }],
    ['TIMEOUT', { retry_after_ms: 0 }, { retry_after_ms: 0 }],
    ['SHUTTING_DOWN', {}, { retry_after_ms: 500 }],
    ['SESSION_NOT_FOUND', { id: 'x' }, { id: 'x', near: [] }],
    ['LIMIT_EXCEEDED', { limit: 'marks', value: 5 }, { limit: 'marks', value: 5, setting: null }],
    ['NAME_TAKEN', {}, {}],
  ] as const)('%s always says what its code promises', (code, data, told) => {
    expect(new SmithyError(code, 'x', { data }).toWire().data).toEqual({ code, ...told });
  });

  it('that nobody meant keeps its cause inside', () => {
    const wire = SmithyError.from(new Error('secret: /home/ann')).toWire();
    expect(wire.data.code).toBe('INTERNAL');
    expect(JSON.stringify(wire)).not.toContain('secret');
  });

  it('of a newer daemon is taken for an internal one', () => {
    const wire = { code: -32099, message: 'New.', data: { code: 'BRAND_NEW' } };
    expect(SmithyError.fromWire(wire)).toMatchObject({ code: 'INTERNAL', message: 'New.' });
    const inherited = { ...wire, data: { code: 'toString' } };
    expect(SmithyError.fromWire(inherited).code).toBe('INTERNAL');
  });

  it('keeps its code although its data holds one as well', () => {
    const error = new SmithyError('BUSY', 'x', { data: { code: 'OTHER', hint: 'other' } });
    expect(error.toWire().data.code).toBe('BUSY');
  });
});
