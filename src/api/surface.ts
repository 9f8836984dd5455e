import { z } from 'zod';
import { ERRORS } from '../core/errors.js';
import { EVENT_TYPES } from '../core/event-types.js';
import type { AnyMethod } from './method.js';

/**
 * Everything others program against, as data. A copy is checked in; it may grow, never shrink:
 * an agent written for an older daemon must keep working with a newer one.
 */
export interface Surface {
  readonly methods: Readonly<Record<string, MethodSurface>>;
  readonly errors: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
}

interface MethodSurface {
  readonly effect: string;
  readonly on: readonly string[];
  readonly command?: string;
  readonly input: Schema;
  readonly output: Schema;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export function toSurface(methods: readonly AnyMethod[]): Surface {
  const rows = methods.map((row): [string, MethodSurface] => [
    row.name,
    {
      effect: row.effect,
      on: row.on,
      ...(row.cli === undefined ? {} : { command: row.cli.command }),
      input: z.toJSONSchema(row.input, { io: 'input' }) as Schema,
      output: z.toJSONSchema(row.output) as Schema,
    },
  ]);
  return { methods: Object.fromEntries(rows), errors: ERRORS, events: EVENT_TYPES };
}

/** What a caller of `before` would miss, or have to do anew, in `after`. Empty means compatible. */
export function shrinkage(before: Surface, after: Surface): string[] {
  return [
    ...Object.entries(before.errors).flatMap(([code, row]) =>
      JSON.stringify(after.errors[code]) === JSON.stringify(row) ? [] : [`error ${code} changed`],
    ),
    ...missing(before.events, after.events).map((type) => `event ${type} is gone`),
    ...Object.entries(before.methods).flatMap(([name, old]) => {
      const now = after.methods[name];
      return now === undefined ? [`method ${name} is gone`] : methodShrinkage(name, old, now);
    }),
  ];
}

function methodShrinkage(name: string, old: MethodSurface, now: MethodSurface): string[] {
  const transports = missing(old.on, now.on).map((on) => `${name} is no longer offered on ${on}`);
  // A method may get a command that it did not have.
  const isKept = old.command === undefined || old.command === now.command;
  const command = isKept ? [] : [`the command of ${name} changed`];
  return [
    ...transports,
    ...command,
    ...inputShrinkage(`${name} input`, old.input, now.input),
    ...outputShrinkage(`${name} output`, old.output, now.output),
  ];
}

/** What zod writes as `anyOf` when something may be null, in the form of everything else. */
function plain(schema: Schema): Schema {
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  if (only === undefined || others.length > 0) return schema;
  const hasNull = schema.anyOf?.length === 2;
  return { ...only, type: [only.type ?? 'anything', hasNull ? 'null' : []].flat(2) };
}

/** Callers may keep sending what they sent: nothing refused, nothing newly demanded. */
function inputShrinkage(where: string, before: Schema, after: Schema): string[] {
  const [old, now] = [plain(before), plain(after)];
  const demanded = missing(now.required ?? [], old.required ?? []);
  return [
    ...typeChange(where, old, now),
    ...demanded.map((field) => `${where}.${field} became required`),
    ...missing(old.enum ?? [], now.enum ?? []).map(
      (value) => `${where} no longer takes ${String(value)}`,
    ),
    ...inside(old, now, (field, a, b) =>
      b === undefined ? [`${where}.${field} is gone`] : inputShrinkage(`${where}.${field}`, a, b),
    ),
  ];
}

/** Callers may keep reading what they read: nothing gone, nothing newly optional. */
function outputShrinkage(where: string, before: Schema, after: Schema): string[] {
  const [old, now] = [plain(before), plain(after)];
  const loosened = missing(old.required ?? [], now.required ?? []);
  return [
    ...typeChange(where, old, now),
    ...loosened.map((field) => `${where}.${field} is no longer certain`),
    ...inside(old, now, (field, a, b) =>
      b === undefined ? [`${where}.${field} is gone`] : outputShrinkage(`${where}.${field}`, a, b),
    ),
  ];
}

function inside(
  old: Schema,
  now: Schema,
  compare: (field: string, old: Schema, now: Schema | undefined) => string[],
): string[] {
  const fields = Object.entries(old.properties ?? {}).flatMap(([field, schema]) =>
    compare(field, schema, now.properties?.[field]),
  );
  return old.items === undefined ? fields : [...fields, ...compare('[]', old.items, now.items)];
}

function typeChange(where: string, old: Schema, now: Schema): string[] {
  const [was, is] = [old, now].map(({ type }) => JSON.stringify(type ?? 'anything'));
  return was === is ? [] : [`${where} was ${was ?? ''}, is ${is ?? ''}`];
}

function missing<T>(from: readonly T[], within: readonly T[]): T[] {
  return from.filter((value) => !within.includes(value));
}
