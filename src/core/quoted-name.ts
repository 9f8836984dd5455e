const NAMED: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

// eslint-disable-next-line no-control-regex -- the characters git quotes
const SPECIAL = /[\0-\x1f"\\\x7f]/u;
// eslint-disable-next-line no-control-regex -- everything but plain ASCII
const SPECIAL_OR_WIDE = /[\0-\x1f"\\\x7f]|[^\0-\x7f]/u;

/**
 * A name as git writes it in a patch with `core.quotePath=false`: letters of any script as they are,
 * in quotes only when a control character, a quote or a backslash is in it. With `ascii` the bytes
 * of other scripts are written as numbers too, as git does by default.
 */
export function quoteName(name: string, ascii = false): string {
  if (!(ascii ? SPECIAL_OR_WIDE : SPECIAL).test(name)) return name;
  let quoted = '';
  for (const char of name) {
    const code = char.codePointAt(0) ?? 0;
    quoted += code < 0x80 ? quoteByte(code) : ascii ? octalBytes(char) : char;
  }
  return `"${quoted}"`;
}

function quoteByte(code: number): string {
  const named = NAMED[code];
  if (named !== undefined) return named;
  return code < 0x20 || code === 0x7f ? octal(code) : String.fromCharCode(code);
}

function octalBytes(char: string): string {
  return Array.from(new TextEncoder().encode(char), octal).join('');
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
