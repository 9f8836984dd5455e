import { describe, expect, it } from '@jest/globals';
import { exposition, Histogram, Summary } from '../../src/core/exposition.js';
import { scrape } from '../support/exposition.js';

describe('the text of metrics', () => {
  it('has a help, a type and the samples of each family', () => {
    const text = exposition([
      { name: 'a_total', help: 'Of a.', type: 'counter', samples: [{ value: 3 }] },
      { name: 'b', help: 'Of b.', type: 'gauge', samples: [{ labels: { of: 'x' }, value: NaN }] },
    ]);
    expect(text).toBe(
      '# HELP a_total Of a.\n# TYPE a_total counter\na_total 3\n' +
        '# HELP b Of b.\n# TYPE b gauge\nb{of="x"} NaN\n',
    );
    expect([...scrape(text).keys()]).toEqual(['a_total', 'b']);
  });

  it('escapes whatever labels and help hold', () => {
    const labels = { of: 'a"b\\c\nd' };
    const text = exposition([
      { name: 'a', help: 'x\ny\\z', type: 'gauge', samples: [{ labels, value: -Infinity }] },
    ]);
    expect(text).toContain('# HELP a x\\ny\\\\z\n');
    expect(text).toContain('a{of="a\\"b\\\\c\\nd"} -Inf\n');
    expect(scrape(text).get('a')?.samples.size).toBe(1);
  });

  it('of a histogram counts upwards, bounds included', () => {
    const times = new Histogram([1, 2]);
    for (const value of [0.5, 1, 1.5, 2, 9]) times.observe(value);
    const samples = times.samples({ m: 'x' });
    const text = exposition([{ name: 'h', help: 'H.', type: 'histogram', samples }]);
    const found = scrape(text).get('h')?.samples ?? new Map<string, number>();
    expect(Object.fromEntries(found)).toEqual({
      'h_bucket{m="x",le="1"}': 2,
      'h_bucket{m="x",le="2"}': 4,
      'h_bucket{m="x",le="+Inf"}': 5,
      'h_sum{m="x"}': 14,
      'h_count{m="x"}': 5,
    });
  });

  it('of a summary has the quantiles of the newest', () => {
    const times = new Summary();
    expect(times.samples()[0]?.value).toBeNaN();
    for (let value = 1; value <= 1000; value += 1) times.observe(value);
    expect(times.samples().map(({ value }) => value)).toEqual([872, 975, 998, 500_500, 1000]);
  });
});

describe('a scraper that is strict', () => {
  it.each([
    ['a 1\n', 'not where it belongs'],
    ['# HELP a A.\n# TYPE a gauge\na 1', 'not ended'],
    ['# TYPE a gauge\na 1\n', 'no help'],
    ['# HELP a A.\n# TYPE a thing\na 1\n', 'no type'],
    ['# HELP a A.\n# TYPE a gauge\nb 1\n', 'not where it belongs'],
    ['# HELP a A.\n# TYPE a gauge\na 1\na 1\n', 'twice'],
    ['# HELP a A.\n# TYPE a gauge\na one\n', 'no number'],
    ['# HELP a A.\n# TYPE a gauge\na{b=1} 1\n', 'wrong labels'],
    ['# HELP a A.\n# TYPE a gauge\n\n', 'not where it belongs'],
    ['# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\n', 'counts down'],
    ['# HELP a A.\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_count 2\n', 'not count all'],
  ])('does not take %j', (text, why) => {
    expect(() => scrape(text)).toThrow(why);
  });
});
