import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitted } from '../../src/core/changes/answer.js';
import { fileLines, type FileNews } from '../../src/core/changes/file-news.js';
import type { News } from '../../src/core/changes/news.js';
import type { Path, Hash } from '../../src/core/model.js';

const bytesOf = (answer: object): number => Buffer.byteLength(JSON.stringify(answer));
const HEAD = { severity: 'error' as const, summary: 'something' };

const said = fc.record({
  message: fc.string({ maxLength: 400 }),
  source: fc.option(fc.string({ maxLength: 100 })),
  count: fc.integer({ min: 1, max: 1e6 }),
});
const anyNews: fc.Arbitrary<News> = fc.record({
  console: fc.record({
    total: fc.nat(),
    errors: fc.array(said, { maxLength: 120 }),
    warnings: fc.array(said, { maxLength: 120 }),
    noise: fc.nat(3),
  }),
  network: fc.record({
    total: fc.nat(),
    failures: fc.array(
      fc.record({ path: fc.string(), status: fc.nat(999), previous: fc.nat(999) }),
    ),
    failingNew: fc.array(fc.record({ path: fc.string(), status: fc.nat(999) })),
    fresh: fc.array(fc.webPath(), { maxLength: 100 }),
    degraded: fc.constant([]),
    noise: fc.nat(3),
  }),
});

/** How many entries each category has, told or left out. */
const given = ({ console, network }: News) => ({
  console: (console?.errors.length ?? 0) + (console?.warnings.length ?? 0),
  network: lengths(network?.failures, network?.failingNew, network?.fresh),
});
const told = ({ console, network }: ReturnType<typeof fitted>) => ({
  console: lengths(console?.errors, console?.warnings) + (console?.omitted ?? 0),
  network:
    lengths(network?.failures, network?.failing_new_endpoints, network?.new_endpoints) +
    (network?.omitted ?? 0),
});
const lengths = (...lists: readonly (readonly unknown[] | undefined)[]): number =>
  lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);

describe('an answer', () => {
  it('takes no more room than there is, and counts what it leaves out', () => {
    fc.assert(
      fc.property(anyNews, fc.integer({ min: 512, max: 20_000 }), (news, room) => {
        const answer = fitted(HEAD, news, { mostBytes: room });
        const bytes = bytesOf(answer);
        expect(bytes).toBeLessThanOrEqual(room);
        expect(Math.abs(answer.token_count - bytes / 4)).toBeLessThanOrEqual(2);
        expect(told(answer)).toEqual(given(news));
      }),
      { numRuns: 60 },
    );
  });

  it('holds at most fifty entries of a list and two hundred signs of a message', () => {
    const one = { message: 'x'.repeat(1000), source: null, count: 1 };
    const errors = Array.from({ length: 100 }, () => one);
    const news = { console: { total: 100, errors, warnings: [], noise: 0 } };
    const { console } = fitted(HEAD, news, { mostBytes: 1_000_000 });
    expect(console?.errors).toHaveLength(50);
    expect(console?.omitted).toBe(50);
    expect(console?.errors[0]?.message).toHaveLength(200);
  });

  it('tells the last actions, not the first', () => {
    const actions = Array.from({ length: 60 }, (_, at) => {
      return { type: `click ${at}`, url: null, target: null, value: 'secret', at };
    });
    const answer = fitted(HEAD, { actions: { total: 60, actions } }, { mostBytes: 1_000_000 });
    expect(answer.actions?.actions).toHaveLength(50);
    expect(answer.actions?.actions.at(-1)?.type).toBe('click 59');
    expect(answer.actions?.omitted).toBe(10);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });
});

describe('an answer that is to be short', () => {
  const actions = Array.from({ length: 50 }, (_, at) => {
    return { type: 'click', url: 'http://localhost/', target: `#b${at}`, value: null, at };
  });
  const errors = (count: number) => {
    const all = Array.from({ length: count }, (_, n) => ({
      message: `e ${n}`,
      source: null,
      count: 1,
    }));
    return { total: count, errors: all, warnings: [], noise: 0 };
  };

  it('leaves out what went well before anything else', () => {
    const news = { console: errors(20), actions: { total: 50, actions } };
    const answer = fitted(HEAD, news, { mostBytes: 8192, shortBytes: 2048 });
    expect(bytesOf(answer)).toBeLessThanOrEqual(2048);
    expect(answer.console?.errors).toHaveLength(20);
    expect(answer.actions?.actions.at(-1)?.target).toBe('#b49');
    expect(answer.actions?.omitted).toBeGreaterThanOrEqual(40);
  });

  it('is as long as it has to be all the same', () => {
    const news = { console: errors(100), actions: { total: 50, actions } };
    const answer = fitted(HEAD, news, { mostBytes: 8192, shortBytes: 2048 });
    expect(answer.console?.errors).toHaveLength(50);
    expect(answer.actions?.actions).toHaveLength(5);
  });
});

const HASH = 'a'.repeat(40) as Hash;
const changed = (path: string, more: Partial<FileNews> = {}): FileNews => ({
  result: {
    path: path as Path,
    change: 'modified',
    before: { hash: HASH, mode: '100644' },
    after: { hash: HASH, mode: '100755' },
  },
  ...{ by: 'agent:ann', also: [], isUnknown: false, ...more },
});
const unknown = { by: 'unknown', isUnknown: true } as const;
const many = (count: number, folder: string, more: Partial<FileNews> = {}) =>
  Array.from({ length: count }, (_, number) => changed(`${folder}/f${number}.ts`, more));

describe('lines of files', () => {
  it('tell what nobody announced first', () => {
    const lines = fileLines([changed('a'), changed('z', unknown), changed('b')]);
    expect(lines.map(({ path }) => path)).toEqual(['z', 'a', 'b']);
  });

  it('tell one operation of git once', () => {
    const lines = fileLines([...many(300, 'src', { ...unknown, origin: 'git' }), changed('mine')]);
    expect(lines).toMatchObject([
      { path: 'src/', change: 'modified', by: 'unknown', origin: 'git', files: 300 },
      { path: 'mine', by: 'agent:ann' },
    ]);
  });

  it('tell many files of one author by folder, and few of another one by one', () => {
    const lines = fileLines([
      ...many(120, 'src/deep', { by: 'command:prettier' }),
      ...many(30, 'test', { by: 'command:prettier' }),
      ...many(2, 'docs', unknown),
    ]);
    expect(lines.map(({ path, files }) => [path, files])).toEqual([
      ['docs/f0.ts', undefined],
      ['docs/f1.ts', undefined],
      ['src/deep/', 120],
      ['test/', 30],
    ]);
  });

  it('tell each file when somebody wants to know', () => {
    const lines = fileLines(many(300, 'src', { ...unknown, origin: 'git' }), false);
    expect(lines).toHaveLength(300);
  });

  it('tell every file exactly once, however they are put together', () => {
    const one = fc
      .tuple(fc.constantFrom('a', 'b', 'c/d', 'c/e', ''), fc.nat(200), fc.boolean())
      .map(([folder, number, isUnknown]) =>
        changed(`${folder}${folder === '' ? '' : '/'}f${number}`, {
          ...(isUnknown ? { ...unknown, origin: number % 2 === 0 ? 'git' : 'live' } : {}),
        }),
      );
    fc.assert(
      fc.property(fc.array(one, { maxLength: 100 }), (news) => {
        const lines = fileLines(news);
        const files = lines.reduce((sum, { files: count = 1 }) => sum + count, 0);
        expect(files).toBe(news.length);
      }),
    );
  });
});
