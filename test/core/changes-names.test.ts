import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  baselineOf,
  compareBaseline,
  type Baseline,
  type Present,
} from '../../src/core/changes/baseline.js';
import { requireMarkName } from '../../src/core/changes/mark-name.js';
import { BUILT_IN, createNoiseFilter } from '../../src/core/changes/noise.js';
import { SmithyError } from '../../src/core/errors.js';
import { safely } from '../../src/telemetry/safe-patterns.js';

function refusalOf(name: string): SmithyError | undefined {
  try {
    requireMarkName(name);
    return undefined;
  } catch (error) {
    if (error instanceof SmithyError) return error;
    throw error;
  }
}

describe('the name of a mark', () => {
  it.each([
    'session_start',
    'pre_commit',
    'before_commit',
    'before_refactor',
    'after_auth_v2',
    'baseline_checkout',
    'a',
    'x'.repeat(50),
    'before_http_404_fix',
    'after_upgrade_to_2026',
  ])('may be %s', (name) => {
    expect(requireMarkName(name)).toBe(name);
  });

  it.each([
    ['Before Refactor', 'before_refactor'],
    ['before-refactor', 'before_refactor'],
    ['before refactor 2026-11-17', 'before_refactor'],
    ['before_20261117', 'before'],
    ['before_1700000000', 'before'],
    ['before_2026_11_17', 'before'],
    ['at_10_30_15', 'at'],
    ['Größe ändern', 'gro_e_a_ndern'],
    ['_x', 'x'],
    ['x'.repeat(51), 'x'.repeat(50)],
    ['1st', 'st'],
    ['', undefined],
    ['日本', undefined],
    ['session_3', undefined],
    ['main', undefined],
    ['worktree', undefined],
  ])('may not be %j', (name, suggestion) => {
    const refusal = refusalOf(name);
    expect(refusal?.code).toBe('NAME_INVALID');
    expect(refusal?.data['suggestion']).toBe(suggestion);
  });

  it('is suggested only if it may be one', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (name) => {
        const suggestion = refusalOf(name)?.data['suggestion'];
        if (typeof suggestion === 'string') expect(requireMarkName(suggestion)).toBe(suggestion);
      }),
    );
  });
});

const builtIn = createNoiseFilter(BUILT_IN, (pattern) => {
  const expression = new RegExp(pattern, 'iu');
  return (text) => expression.test(text);
});

describe('noise', () => {
  it.each([
    ['console', '[vite] connecting...', null],
    ['console', '[HMR] Waiting for update signal from WDS...', null],
    ['console', 'Download the React DevTools for a better development experience', null],
    ['console', 'Cannot read x', 'chrome-extension://abcdef/content.js:1'],
    ['console', 'GET https://www.google-analytics.com/collect net::ERR_FAILED', null],
    ['network', 'https://www.googletagmanager.com/gtag/js?id=G-1', null],
    ['network', 'http://localhost:3000/favicon.ico', null],
    ['network', 'http://localhost:3000/main.hot-update.json', null],
    ['network', 'http://localhost:3000/assets/app.js.map', null],
    ['websocket', 'ws://localhost:3000/_next/webpack-hmr', null],
  ] as const)('is %s %s', (category, text, source) => {
    expect(builtIn.find(category, { text, source })).toMatch(/^builtin-/u);
  });

  it.each([
    ['console', "TypeError: Cannot read properties of undefined (reading 'map')", 'src/App.tsx:1'],
    ['console', '[vite] Internal server error: Transform failed', null],
    ['console', 'Failed to load resource: 500 http://localhost:3000/api/analytics', null],
    ['network', 'http://localhost:3000/api/segments', null],
    ['network', 'http://localhost:3000/api/favicons', null],
    ['network', 'http://localhost:3000/maps/js', null],
    ['websocket', 'ws://localhost:3000/live', null],
  ] as const)('is not %s %s', (category, text, source) => {
    expect(builtIn.find(category, { text, source })).toBeUndefined();
  });

  it.each(['(a+)+$', '(a|aa)+$', '(.*a){20}$', '(a*)*b', '([a-z]+)*!'])(
    'of the project may be %s: a long text is judged all the same',
    (pattern) => {
      const filter = createNoiseFilter([{ id: 'own', category: 'console', pattern }], safely);
      expect(filter.find('console', { text: `${'a'.repeat(2000)}?` })).toBeUndefined();
    },
  );

  it.each(['(?=x)', '(?<!x)y', '(a)\\1', '(', '[z-a]'])(
    'of the project may not be %s',
    (pattern) => {
      expect(() => safely(pattern)).toThrow();
    },
  );
});

const WELL: Present = {
  endpoints: { '/a': { status: 200, durationMs: 100 }, '/b': { status: 500 } },
  errors: [{ message: 'Known 12345', source: null, count: 1 }],
  warnings: [],
  connections: ['ws://a'],
};
const saved: Baseline = baselineOf('baseline_a', WELL, { at: 'then', description: null });

describe('a baseline', () => {
  it('matches itself', () => {
    expect(compareBaseline(saved, WELL)).toEqual({ regressions: [], improvements: [] });
  });

  it('says what is worse', () => {
    const { regressions, improvements } = compareBaseline(saved, {
      endpoints: { '/a': { status: 503, durationMs: 301 }, '/new': { status: 500 } },
      errors: [
        { message: 'Known 99999', source: null, count: 7 },
        { message: 'Fresh', source: null, count: 2 },
      ],
      warnings: [{ message: 'Careful', source: null, count: 1 }],
      connections: [],
    });
    expect(improvements).toEqual([]);
    expect(regressions).toEqual([
      { kind: 'status', what: '/a', expected: 200, actual: 503 },
      { kind: 'console_error', what: 'Fresh', expected: 0, actual: 2 },
      { kind: 'websocket', what: 'ws://a', expected: 'open', actual: 'closed' },
      { kind: 'console_warning', what: 'Careful', expected: 0, actual: 1 },
      { kind: 'latency', what: '/a', expected: 100, actual: 301 },
    ]);
  });

  it('says what is better, and allows what it is told to allow', () => {
    const present: Present = {
      ...WELL,
      endpoints: { '/a': { status: 200, durationMs: 900 }, '/b': { status: 200 } },
    };
    const { regressions, improvements } = compareBaseline(saved, present, 10);
    expect(regressions).toEqual([]);
    expect(improvements).toEqual([{ kind: 'status', what: '/b', expected: 500, actual: 200 }]);
  });

  it('is not fooled by names that every object has', () => {
    const { regressions } = compareBaseline(
      baselineOf('x', { ...WELL, endpoints: { constructor: { status: 200 } } }, saved),
      { ...WELL, endpoints: {} },
    );
    expect(regressions).toEqual([]);
  });

  it('keeps a bounded part of what there is', () => {
    const errors = Array.from({ length: 900 }, (_, number) => {
      return { message: `e${'x'.repeat(number % 300)}${number % 7}`, source: null, count: 1 };
    });
    const kept = baselineOf('x', { ...WELL, errors }, saved);
    expect(kept.errors.length).toBeLessThanOrEqual(200);
    expect(Math.max(...kept.errors.map((print) => print.length))).toBeLessThanOrEqual(200);
  });
});
