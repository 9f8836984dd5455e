import { bounded } from './bounds.js';
import { fieldsOf, listOf, textOf, type Fields } from './message.js';

/** More arguments than a line of a console has room for. */
const MOST_ARGUMENTS = 20;
const PLACE = /%([sdifoOc%])/gu;

/** The arguments of a console call as the one line that a person would read. */
export function consoleText(args: unknown): string {
  const [first, ...rest] = listOf(args).slice(0, MOST_ARGUMENTS).map(fieldsOf);
  if (first === undefined) return '';
  const format = first['type'] === 'string' ? textOf(first['value']) : undefined;
  if (format === undefined) return joined([first, ...rest]);
  const { text, left } = filled(bounded(format), rest);
  return left.length === 0 ? text : `${text} ${joined(left)}`;
}

function joined(values: readonly Fields[]): string {
  return values.map(valueText).join(' ');
}

/** `%s is %d` and its like, as the console knows them; `%c` is colour and says nothing. */
function filled(format: string, values: readonly Fields[]) {
  let next = 0;
  const text = format.replace(PLACE, (place, kind: string) => {
    if (kind === '%') return '%';
    const value = values[next];
    if (value === undefined) return place;
    next += 1;
    return kind === 'c' ? '' : valueText(value);
  });
  return { text, left: values.slice(next) };
}

/** A value as the browser describes it. An error without its stack: the source says where. */
export function valueText(value: Fields): string {
  const { type, subtype, value: plain, unserializableValue, description, preview } = value;
  if (type === 'string') return bounded(textOf(plain) ?? '');
  if (type === 'undefined') return 'undefined';
  if (subtype === 'null') return 'null';
  if (typeof unserializableValue === 'string') return bounded(unserializableValue);
  if (typeof plain === 'number' || typeof plain === 'boolean') return String(plain);
  const described = textOf(description) ?? '';
  if (subtype === 'error') return bounded(withoutStack(described));
  return bounded(preview === undefined ? described : previewText(fieldsOf(preview), described));
}

/** What precedes the first line that says where it happened. */
export function withoutStack(description: string): string {
  return description.split(/\n\s+at /u, 1)[0] ?? '';
}

function previewText({ subtype, properties, overflow }: Fields, described: string): string {
  const isList = subtype === 'array';
  const shown = listOf(properties).map((one) => {
    const { name, value, type } = fieldsOf(one);
    const text = type === 'string' ? JSON.stringify(textOf(value) ?? '') : (textOf(value) ?? '…');
    return isList ? text : `${textOf(name) ?? ''}: ${text}`;
  });
  if (overflow === true) shown.push('…');
  const inside = shown.join(', ');
  if (isList) return `[${inside}]`;
  return described === 'Object' ? `{${inside}}` : `${described} {${inside}}`;
}
