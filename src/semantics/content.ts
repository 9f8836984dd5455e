/** As far as git looks for a NUL before it calls a file binary. */
const BINARY_PROBE = 8000;

export interface ReadText {
  /** Without a byte order mark. */
  readonly text: string;
  readonly warning?: string;
}

/** Undefined for binary content. Bytes that are no UTF-8 become one character each. */
export function readText(content: Uint8Array): ReadText | undefined {
  if (content.subarray(0, BINARY_PROBE).includes(0)) return undefined;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content) };
  } catch {
    return {
      text: Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1'),
      warning: 'not UTF-8, read as Latin-1',
    };
  }
}

/** Tells the line of an offset, from 1. Offsets may come in any order. */
export function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
