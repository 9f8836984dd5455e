import { describe, expect, it } from '@jest/globals';
import { createByteCache } from '../../src/core/byte-cache.js';

describe('a cache with a bound in bytes', () => {
  const filled = () => {
    const cache = createByteCache<string, string>(10, (text) => text.length);
    for (const [key, text] of Object.entries({ a: 'aaaa', b: 'bbbb' })) cache.add(key, text);
    return cache;
  };
  const kept = (cache: ReturnType<typeof filled>) =>
    ['a', 'b', 'c', 'huge'].filter((key) => cache.get(key) !== undefined);

  it('lets go of what was used longest ago', () => {
    const cache = filled();
    cache.get('a');
    cache.add('c', 'cccc');
    expect(kept(cache)).toEqual(['a', 'c']);
  });

  it('counts what is there twice once, and takes nothing larger than itself', () => {
    const cache = filled();
    cache.add('a', 'aaaa');
    cache.add('huge', 'x'.repeat(11));
    expect(kept(cache)).toEqual(['a', 'b']);
  });

  it('has room for all of it again after it was cleared', () => {
    const cache = filled();
    cache.clear();
    expect(kept(cache)).toEqual([]);
    cache.add('c', 'x'.repeat(10));
    expect(kept(cache)).toEqual(['c']);
  });
});
