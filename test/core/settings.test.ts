import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Config } from '../../src/core/config.js';
import { SmithyError } from '../../src/core/errors.js';
import { readSettings, updateSettings } from '../../src/core/settings.js';

describe('a configuration file', () => {
  it('is never fatal and always gives a whole configuration', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (raw) => {
        const { config } = readSettings(raw);
        expect(Config.parse(config)).toEqual(config);
      }),
    );
  });

  it('counts in its sound parts and tells of the others', () => {
    const { config, problems } = readSettings({
      maxFileBytes: 5,
      exclud: ['x'],
      http: { port: -1 },
    });
    expect(config).toEqual({ ...Config.parse({}), maxFileBytes: 5 });
    expect(problems.map(({ path }) => path).sort()).toEqual(['exclud', 'http.port']);
  });

  it.each([
    [{ http: { enabled: false, prot: 1 } }, { http: { enabled: false, port: 0 } }],
    [
      { redact: { personal: ['email'], patterns: [''] } },
      { redact: { enabled: true, personal: ['email'], patterns: [] } },
    ],
    [{ edits: { ttlMs: 0, waitMs: 5 } }, { edits: { ttlMs: 600_000, waitMs: 5 } }],
    [{ edits: { ttlMs: 5, waitMs: 3e9 } }, { edits: { ttlMs: 5, waitMs: 0 } }],
  ])('%j keeps what is right in a group', (raw, expected) => {
    expect(readSettings(raw).config).toMatchObject(expected);
  });

  it.each([[null], [[]], ['x'], [5], [undefined]])('that holds %j counts as empty', (raw) => {
    const { config, problems } = readSettings(raw);
    expect(config).toEqual(Config.parse({}));
    expect(problems).toHaveLength(1);
  });

  it('cannot reach the prototype of anything', () => {
    const { config } = readSettings(JSON.parse('{"__proto__":{"polluted":1},"constructor":{}}'));
    expect(config).toEqual(Config.parse({}));
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('an update of the configuration', () => {
  it('merges groups and replaces lists', () => {
    const before = { edits: { ttlMs: 1 }, exclude: ['a', 'b'] };
    const { raw } = updateSettings(before, { edits: { waitMs: 2 }, exclude: ['c'] });
    expect(raw).toEqual({ edits: { ttlMs: 1, waitMs: 2 }, exclude: ['c'] });
    expect(before).toEqual({ edits: { ttlMs: 1 }, exclude: ['a', 'b'] });
  });

  it('is possible although the file holds an old mistake', () => {
    const { raw, config, problems } = updateSettings({ oops: 1 }, { maxFileBytes: 7 });
    expect(raw).toEqual({ oops: 1, maxFileBytes: 7 });
    expect(config.maxFileBytes).toBe(7);
    expect(problems.map(({ path }) => path)).toEqual(['oops']);
  });

  it('is in effect although its group holds an old mistake', () => {
    const { config } = updateSettings({ http: { prot: 1 } }, { http: { port: 8080 } });
    expect(config.http.port).toBe(8080);
  });

  it('is refused as a whole with every mistake named', () => {
    const refused = (() => {
      try {
        updateSettings({}, { maxFileByte: 1, store: { limitBytes: 'x', limit: 2 } });
      } catch (error) {
        return SmithyError.from(error);
      }
      return undefined;
    })();
    expect(refused?.code).toBe('INVALID_PARAMS');
    const issues = refused?.data['issues'] as { path: string; hint?: string }[];
    expect(issues.map(({ path }) => path).sort()).toEqual([
      'maxFileByte',
      'store.limit',
      'store.limitBytes',
    ]);
    expect(issues.find(({ path }) => path === 'store.limit')?.hint).toContain('"limitBytes"');
  });

  it('followed by the same update changes nothing more', () => {
    const patch = fc.record(
      {
        maxFileBytes: fc.nat(),
        exclude: fc.array(fc.string({ minLength: 1 })),
        edits: fc.record(
          { ttlMs: fc.integer({ min: 1, max: 86_400_000 }), waitMs: fc.nat(600_000) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(patch, patch, (first, second) => {
        const once = updateSettings(updateSettings({}, first).raw, second);
        expect(updateSettings(once.raw, second)).toEqual(once);
        expect(once.problems).toEqual([]);
      }),
    );
  });
});
