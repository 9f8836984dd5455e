import { describe, expect, it } from '@jest/globals';
import { blameLines, type BlameView } from '../../src/core/blame-view.js';
import { displayWidth } from '../../src/core/display-width.js';

const view: BlameView = {
  width: undefined,
  safe: (text) => text.replaceAll('\u0007', '<bell>'),
  age: (at) => `since ${at}`,
  quiet: (text) => text,
};

describe('blame for people', () => {
  it('stands every line behind its author in columns that line up', () => {
    const ranges = [
      { from: 1, to: 2, by: 'baseline' },
      { from: 3, to: 3, by: 'agent:漢字', at: '12', event: 'evt-000001' },
    ];
    expect(blameLines(['a', '\tb', 'c\u0007\r'], ranges, view)).toEqual([
      'baseline                          1  a',
      'baseline                          2      b',
      'agent:漢字  since 12  evt-000001  3  c<bell>',
    ]);
  });

  it('cuts long names and long lines to the width', () => {
    const ranges = [{ from: 1, to: 1, by: `agent:${'x'.repeat(100)}` }];
    const [line = ''] = blameLines(['y'.repeat(100)], ranges, { ...view, width: 50 });
    expect(displayWidth(line)).toBe(50);
    expect(line).toMatch(/^agent:x{17}… +1 {2}y+…$/u);
  });

  it('leaves room for text on a terminal that is too narrow', () => {
    const ranges = [{ from: 1, to: 1, by: 'agent:somebody', at: '1', event: 'evt-000001' }];
    const [line = ''] = blameLines(['0123456789abc'], ranges, { ...view, width: 5 });
    expect(line).toMatch(/012345678…$/u);
  });

  it('says nothing of lines that nobody was named for', () => {
    expect(blameLines(['a', 'b'], [{ from: 1, to: 1, by: 'x' }], view)).toEqual([
      'x      1  a',
      '       2  b',
    ]);
  });
});
