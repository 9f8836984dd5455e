import { z } from 'zod';
import { ERRORS } from '../core/errors.js';
import type { AnyMethod } from './method.js';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
}

/** `docs/METHODS.md`: the table in words. A test fails when the file is behind. */
export function toReference(methods: readonly AnyMethod[]): string {
  return [
    '# Methods',
    '',
    'Written from the method table by `npm run reference`; do not edit by hand.',
    ...methods.flatMap(describeMethod),
    ...describeErrors(),
    '',
  ].join('\n');
}

function describeMethod(row: AnyMethod): string[] {
  const command = row.cli === undefined ? [] : [`Command: \`smithyd ${row.cli.command}\`. `];
  return [
    '',
    `## \`${row.name}\``,
    '',
    row.summary,
    '',
    `${command.join('')}Effect: ${row.effect}. Offered on: ${row.on.join(', ')}.`,
    ...describeFields('Parameters', z.toJSONSchema(row.input, { io: 'input' }) as Schema),
    ...describeFields('Answer', z.toJSONSchema(row.output) as Schema),
  ];
}

function describeFields(title: string, schema: Schema): string[] {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return [];
  const rows = fields.map(([name, field]) => {
    const must = schema.required?.includes(name) === true ? '' : ' (optional)';
    return `| \`${name}\`${must} | ${typeName(field)} | ${field.description ?? ''} |`;
  });
  return ['', `| ${title} | type | meaning |`, '|---|---|---|', ...rows];
}

function typeName(schema: Schema): string {
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeName).join(' or ');
  if (schema.type === 'array') return `list of ${typeName(schema.items ?? {})}`;
  if (schema.properties !== undefined) {
    return `{${Object.entries(schema.properties)
      .map(([name, field]) => `${name}: ${typeName(field)}`)
      .join(', ')}}`;
  }
  return [schema.type ?? 'anything'].flat().join(' or ');
}

function describeErrors(): string[] {
  return [
    '',
    '# Errors',
    '',
    '| name | JSON-RPC | HTTP | exit code |',
    '|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([name, { rpc, http, exit }]) => `| \`${name}\` | ${rpc} | ${http} | ${exit} |`,
    ),
  ];
}
