import { describe, expect, it } from '@jest/globals';
import { SmithyError } from '../../src/core/errors.js';
import { resolveId, type IdQuestion } from '../../src/core/resolve-id.js';

const KNOWN = ['01abcdef', '01abff00', '77aa0000'];

const ask = (given: string, more: Partial<IdQuestion> = {}): string =>
  resolveId({ what: 'checkpoint', given, known: KNOWN, missing: 'CHECKPOINT_NOT_FOUND', ...more });

function refusal(given: string, more: Partial<IdQuestion> = {}): SmithyError {
  try {
    ask(given, more);
  } catch (error) {
    if (error instanceof SmithyError) return error;
    throw error;
  }
  throw new Error(`${given} was taken`);
}

describe('an id', () => {
  it('is meant by itself and by what only it begins with, in any case', () => {
    expect(ask('77aa0000')).toBe('77aa0000');
    expect(ask('77AA')).toBe('77aa0000');
    expect(ask('01abc')).toBe('01abcdef');
  });

  it('that could be several is refused with all of them', () => {
    expect(refusal('01ab')).toMatchObject({
      code: 'AMBIGUOUS_ID',
      data: { candidates: ['01abcdef', '01abff00'] },
    });
  });

  it('that is nobody’s is refused with the command that lists them', () => {
    expect(refusal('ffffffff')).toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
      hint: 'See `smithyd log`.',
    });
    expect(refusal('xyzxyzxy', { what: 'dialog' }).hint).toBe('See `smithyd dialog list`.');
  });

  it('that is too short says so, unless a name is near', () => {
    expect(refusal('zzz').hint).toBe(
      'An id may be shortened to 4 characters or more. See `smithyd log`.',
    );
    expect(refusal('mian', { names: ['main'] }).hint).toBe('Did you mean "main"?');
  });
});
