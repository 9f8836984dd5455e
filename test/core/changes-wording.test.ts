import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { endpointOf, fingerprint, shorten } from '../../src/core/changes/wording.js';

describe('fingerprint', () => {
  it.each([
    ['User 0a1b2c3d-0000-4000-8000-000000000001 is gone', 'User {uuid} is gone'],
    ['User 0A1B2C3D-0000-4000-8000-00000000000F is gone', 'User {uuid} is gone'],
    ['order 12345 of 999', 'order {n} of 999'],
    ['at 2026-01-02T03:04:05.678Z', 'at {ts}'],
    ['at 2026-01-02T03:04:05+02:00 twice', 'at {ts} twice'],
    ['at 2026-01-02 03:04', 'at {ts}'],
    ['chunk8472910.js', 'chunk{n}.js'],
    ['nothing to replace', 'nothing to replace'],
  ])('makes of %j %j', (message, expected) => {
    expect(fingerprint(message)).toBe(expected);
  });

  it('tells messages apart that differ in short numbers', () => {
    expect(fingerprint('failed with 404')).not.toBe(fingerprint('failed with 500'));
  });

  it('is its own fingerprint, whatever the message', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        const print = fingerprint(message);
        expect(fingerprint(print)).toBe(print);
      }),
    );
  });
});

const FAMILY = '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}';

const HALF = /\p{Surrogate}/u;
const HALF_EACH = /\p{Surrogate}/gu;

describe('shorten', () => {
  it('leaves alone what fits', () => {
    expect(shorten('abc', 3)).toBe('abc');
    expect(shorten('', 0)).toBe('');
  });

  it('ends with a sign where something was cut', () => {
    expect(shorten('abcdef', 4)).toBe('abc…');
    expect(shorten('abcdef', 1)).toBe('…');
    expect(shorten('abcdef', 0)).toBe('');
  });

  it('never keeps a part of what is seen as one sign', () => {
    expect(shorten(`ab${FAMILY}cd`, 8)).toBe('ab…');
    expect(shorten('a\u{1F600}bcd', 3)).toBe('a…');
    expect(shorten('nae\u0301\u0323f', 4)).toBe('na…');
    expect(shorten('\u{1F1E9}\u{1F1EA}xx', 4)).toBe('…');
  });

  it('puts a sign in the place of half a character', () => {
    expect(shorten('a\uD83D', 10)).toBe('a\uFFFD');
    expect(shorten('\uDE00a', 10)).toBe('\uFFFDa');
  });

  it('is well formed, short enough and a beginning, whatever the text', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((codes) => {
        return String.fromCharCode(...codes);
      }),
      fc.constant(FAMILY.repeat(4)),
    );
    fc.assert(
      fc.property(unit, fc.integer({ min: 0, max: 80 }), (text, most) => {
        const short = shorten(text, most);
        expect(short.length).toBeLessThanOrEqual(most);
        expect(short).not.toMatch(HALF);
        const kept = short.length === text.length ? short : short.slice(0, -1);
        expect(text.replace(HALF_EACH, '\uFFFD').startsWith(kept)).toBe(true);
      }),
    );
  });
});

describe('endpointOf', () => {
  it.each([
    ['http://localhost:3000/api/users?page=1', '/api/users'],
    ['http://localhost:3000/api/users?page=2#top', '/api/users'],
    ['/api/users?next=http://elsewhere/x', '/api/users'],
    ['https://example.org', '/'],
    ['https://example.org?x=1', '/'],
    ['wss://example.org/live', '/live'],
    ['', '/'],
    ['not an address', 'not an address'],
    ['/api/users/', '/api/users/'],
  ])('of %j is %j', (url, path) => {
    expect(endpointOf(url)).toBe(path);
  });

  it('does not depend on the query', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.webQueryParameters(), (url, query) => {
        expect(endpointOf(`${url}?${query}`)).toBe(endpointOf(url));
      }),
    );
  });
});
