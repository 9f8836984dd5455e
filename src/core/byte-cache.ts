/** What is kept in memory for whoever asks next, up to so many bytes: the last used stay. */
export interface ByteCache<Key, Value> {
  get(key: Key): Value | undefined;
  /** Not what is larger than all of it. */
  add(key: Key, value: Value): void;
  clear(): void;
}

export function createByteCache<Key, Value>(
  mostBytes: number,
  sizeOf: (value: Value) => number,
): ByteCache<Key, Value> {
  const values = new Map<Key, Value>();
  let bytes = 0;
  return {
    get(key) {
      const found = values.get(key);
      if (found === undefined) return undefined;
      values.delete(key);
      values.set(key, found);
      return found;
    },
    add(key, value) {
      if (values.has(key) || sizeOf(value) > mostBytes) return;
      values.set(key, value);
      bytes += sizeOf(value);
      for (const [oldest, gone] of values) {
        if (bytes <= mostBytes) return;
        values.delete(oldest);
        bytes -= sizeOf(gone);
      }
    },
    clear() {
      values.clear();
      bytes = 0;
    },
  };
}
