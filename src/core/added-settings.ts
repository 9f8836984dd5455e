/**
 * Adding to somebody's settings and taking it away again. Only what is ours is ever added or taken:
 * in JSON by value, in other files between two lines.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Everything of `more` in `base`; where both say something, `base` wins. */
export function withSettings(base: Json, more: Json): Json {
  if (Array.isArray(base) && Array.isArray(more)) {
    const news = more.filter((item) => !base.some((known) => isSame(known as Json, item as Json)));
    return [...(base as Json[]), ...(news as Json[])];
  }
  if (!isObject(base) || !isObject(more)) return base;
  const merged: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const present = base[name];
    merged[name] = present === undefined ? value : withSettings(present, value);
  }
  return merged;
}

/** `base` without what `withSettings` added; undefined when nothing else is left. */
export function withoutSettings(base: Json, more: Json): Json | undefined {
  if (isSame(base, more)) return undefined;
  if (Array.isArray(base) && Array.isArray(more)) {
    const rest = base.filter((item) => !more.some((own) => isSame(own as Json, item as Json)));
    return rest.length === 0 ? undefined : (rest as Json[]);
  }
  if (!isObject(base) || !isObject(more)) return base;
  const rest: Record<string, Json> = {};
  for (const [name, value] of Object.entries(base)) {
    const own = more[name];
    const left = own === undefined ? value : withoutSettings(value, own);
    if (left !== undefined) rest[name] = left;
  }
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** With `block` at the end of the text, between its two lines, in place of an older one. */
export function withBlock(text: string, block: string): string {
  const before = withoutBlock(text, block);
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  return `${before}${gap}${block}`;
}

export function withoutBlock(text: string, block: string): string {
  const [head, tail] = [firstLine(block), lastLine(block)];
  const from = text.startsWith(head) ? 0 : text.indexOf(`\n${head}`) + 1;
  const to = text.indexOf(tail, from);
  if ((from === 0 && !text.startsWith(head)) || to === -1) return text;
  return text.slice(0, from) + text.slice(to + tail.length).replace(/^\n/u, '');
}

/** The indent of a JSON text, as its first indented line has it. */
export function indentOf(text: string): string {
  return /^([ \t]+)\S/mu.exec(text)?.[1] ?? '  ';
}

function firstLine(block: string): string {
  return block.split('\n')[0] ?? '';
}

function lastLine(block: string): string {
  return block.trimEnd().split('\n').at(-1) ?? '';
}

function isObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
