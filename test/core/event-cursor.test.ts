import { describe, expect, it } from '@jest/globals';
import {
  formatCursor,
  isAfter,
  MOST_REPLAYED,
  parseCursor,
  planResume,
  type StreamState,
} from '../../src/core/event-cursor.js';

const RUN = 'a1b2c3';
const state: StreamState = { run: RUN, head: 20, floor: 10 };
const within = (number: number, run = RUN) => ({ run, number });

describe('a cursor', () => {
  it('of a ledger line is its sequence number and nothing else', () => {
    expect(formatCursor({ seq: 17 })).toBe('17');
  });

  it.each([{ seq: 0 }, { seq: 17 }, { seq: 17, within: within(3) }])(
    'is read back as it was written: %j',
    (position) => {
      expect(parseCursor(formatCursor(position))).toEqual(position);
    },
  );

  it.each(['', '-', '-1', '1-', '1-zz-2', '1-ab', '1.5', '1e3', ' 1', '9999999999999999', 'abc-9'])(
    'that nobody wrote is not understood: %j',
    (text) => {
      expect(parseCursor(text)).toBeUndefined();
    },
  );
});

describe('order in the stream', () => {
  it('puts an event without a line between the line before it and the line after it', () => {
    const between = { seq: 5, within: within(1) };
    expect(isAfter(between, { seq: 5 })).toBe(true);
    expect(isAfter({ seq: 5 }, between)).toBe(false);
    expect(isAfter({ seq: 6 }, between)).toBe(true);
    expect(isAfter(between, { seq: 6 })).toBe(false);
  });

  it('never puts an event after itself', () => {
    for (const position of [{ seq: 5 }, { seq: 5, within: within(1) }]) {
      expect(isAfter(position, position)).toBe(false);
    }
  });
});

describe('going on from a cursor', () => {
  it.each(['10', '15', '20', `15-${RUN}-4`])('in memory loses nothing: %s', (since) => {
    expect(planResume(since, state)).toEqual({ from: parseCursor(since), gap: false });
  });

  it('before what is in memory reads the ledger', () => {
    expect(planResume('3', state)).toEqual({ from: { seq: 3 }, gap: false });
  });

  it('of a run that is over goes on after the line it names', () => {
    expect(planResume('15-dead-400', state)).toEqual({ from: { seq: 15 }, gap: false });
  });

  it.each(['nonsense', '21', `21-${RUN}-1`])(
    'that this ledger cannot have given is a gap: %s',
    (since) => {
      expect(planResume(since, state)).toEqual({ from: { seq: 10 }, gap: true });
    },
  );

  it('of too long ago gives the newest lines and says that some are missing', () => {
    const long = { run: RUN, head: MOST_REPLAYED + 50, floor: MOST_REPLAYED + 40 };
    expect(planResume('40', long)).toEqual({ from: { seq: 40 }, gap: false });
    expect(planResume('39', long)).toEqual({ from: { seq: 40 }, gap: true });
  });

  it('says when an event without a line has been forgotten since', () => {
    const forgetful = { ...state, forgotten: { seq: 12, within: within(7) } };
    expect(planResume('12', forgetful).gap).toBe(true);
    expect(planResume('13', forgetful).gap).toBe(false);
    expect(planResume(`12-${RUN}-6`, forgetful).gap).toBe(true);
    expect(planResume(`12-${RUN}-7`, forgetful).gap).toBe(false);
  });
});
