import { describe, expect, it } from '@jest/globals';
import { judgeBinding } from '../../src/core/root-binding.js';

const question = {
  root: '/here',
  state: '/here/.agentsmithy',
  bound: '/there',
  isOriginalThere: true,
  rebind: false,
};

describe('a state folder', () => {
  it('of this root is used as it is', () => {
    expect(judgeBinding({ ...question, bound: '/here' })).toBe('kept');
  });

  it('of no root yet becomes this one’s', () => {
    expect(judgeBinding({ ...question, bound: undefined })).toBe('bind');
  });

  it('of another root is refused, and the hint tells a copy from a move', () => {
    const refusal = (isOriginalThere: boolean): unknown => {
      try {
        return judgeBinding({ ...question, isOriginalThere });
      } catch (error) {
        return error;
      }
    };
    expect(refusal(true)).toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('copy'),
      data: { bound_to: '/there', is_copy: true },
    });
    expect(refusal(false)).toMatchObject({
      code: 'FORBIDDEN',
      hint: expect.stringContaining('moved'),
      data: { is_copy: false },
    });
  });

  it('of another root becomes this one’s when that is asked for', () => {
    expect(judgeBinding({ ...question, rebind: true })).toBe('bind');
  });
});
