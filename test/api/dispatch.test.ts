import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createDispatch } from '../../src/api/dispatch.js';
import { method, type AnyMethod, type Context } from '../../src/api/method.js';
import { SmithyError } from '../../src/core/errors.js';

const double = method({
  name: 'double',
  summary: 'Doubles a number.',
  effect: 'read',
  on: ['socket', 'http'],
  input: z.strictObject({ number: z.int(), label: z.string().optional() }),
  output: z.object({ doubled: z.int() }),
  run: (_, { number }) => {
    if (number === 13) throw new Error('secret');
    if (number === 14) throw new SmithyError('BUSY', 'Later.');
    return { doubled: number === 15 ? 0.5 : number * 2 };
  },
});
const hidden = method({ ...double, name: 'hidden', on: ['http'] });
const ROWS: readonly AnyMethod[] = [double, hidden];
const context = { transport: 'socket' } as Context;

async function call(name: string, params: unknown) {
  const counted: [string, string][] = [];
  const logged: unknown[] = [];
  const dispatch = createDispatch(ROWS, {
    observe: (name) => (outcome) => void counted.push([name, outcome]),
    log: { write: (_level, _text, fields) => void logged.push(fields) },
  });
  const outcome = await dispatch({ method: name, params }, context).catch((error: unknown) =>
    SmithyError.from(error),
  );
  return { outcome, counted, logged };
}

describe('a call', () => {
  it('reaches its method with checked parameters and is counted', async () => {
    expect(await call('double', { number: 4 })).toEqual({
      outcome: { doubled: 8 },
      counted: [['double', 'ok']],
      logged: [],
    });
  });

  it.each(['dubble', 'hidden', '__proto__', 'constructor', ''])(
    'of %j finds no method and is counted under one name',
    async (name) => {
      const { outcome, counted } = await call(name, {});
      expect(outcome).toMatchObject({ code: 'METHOD_NOT_FOUND' });
      expect(counted).toEqual([['unknown', 'METHOD_NOT_FOUND']]);
    },
  );

  it('is told near names of its own transport only', async () => {
    expect((await call('dubble', {})).outcome).toMatchObject({ data: { near: ['double'] } });
    expect((await call('hiden', {})).outcome).toMatchObject({ data: { near: [] } });
  });

  it('is told every wrong parameter at once', async () => {
    const { outcome } = await call('double', { number: 'x', lable: 'y', other: 1 });
    expect(outcome).toMatchObject({ code: 'INVALID_PARAMS' });
    const { data } = outcome as SmithyError;
    const issues = data['issues'] as { path: string; hint?: string }[];
    expect(issues.map(({ path }) => path).sort()).toEqual(['lable', 'number', 'other']);
    expect(issues.find(({ path }) => path === 'lable')?.hint).toContain('"label"');
  });

  it.each([
    [13, 'INTERNAL'],
    [14, 'BUSY'],
    [15, 'INTERNAL'],
  ])('that fails inside with %d is a %s', async (number, code) => {
    const { outcome, counted, logged } = await call('double', { number });
    expect(outcome).toMatchObject({ code });
    expect((outcome as SmithyError).message).not.toContain('secret');
    expect(counted).toEqual([['double', code]]);
    const reports = code === 'INTERNAL' ? [{ method: 'double', cause: expect.anything() }] : [];
    expect(logged).toEqual(reports);
  });

  it.each([undefined, null])('with %s for parameters has none', async (params) => {
    expect((await call('double', params)).outcome).toMatchObject({ code: 'INVALID_PARAMS' });
  });
});
