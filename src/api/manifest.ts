import { z } from 'zod';
import type { CliCommand, CliFlag, CliManifest } from '../core/cli-manifest.js';
import type { AnyMethod, CliForm } from './method.js';

/** The part of JSON Schema that zod writes for our inputs. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The command line's view of the table. */
export function toCliManifest(methods: readonly AnyMethod[], version: string): CliManifest {
  return {
    version,
    commands: methods.flatMap((row) => (row.cli === undefined ? [] : [toCommand(row, row.cli)])),
  };
}

function toCommand(row: AnyMethod, form: CliForm): CliCommand {
  const schema = z.toJSONSchema(row.input, { io: 'input' }) as Schema;
  const flags = Object.entries(schema.properties ?? {}).map(([field, property]) =>
    toFlag(field, property, {
      required: schema.required?.includes(field) ?? false,
      short: Object.entries(form.short ?? {}).find(([, name]) => name === field)?.[0],
      name: form.names?.[field] ?? field.replaceAll('_', '-'),
    }),
  );
  return {
    command: form.command,
    method: row.name,
    summary: row.summary,
    positional: form.positional ?? [],
    flags,
    switches: form.switches ?? {},
    fixed: form.fixed ?? {},
    places: form.places ?? [],
  };
}

function toFlag(
  field: string,
  property: Schema,
  { required, short, name }: { required: boolean; short: string | undefined; name: string },
): CliFlag {
  const choices = property.enum ?? property.items?.enum;
  return {
    name,
    field,
    type: typeOf(property),
    required,
    ...(short === undefined ? {} : { short }),
    ...(choices === undefined ? {} : { choices }),
    ...(property.description === undefined ? {} : { help: property.description }),
    ...wordOf(property),
  };
}

function wordOf({ properties = {}, required = [] }: Schema): { readonly word?: string } {
  const [only, ...others] = required;
  if (only === undefined || others.length > 0) return {};
  return properties[only]?.type === 'string' ? { word: only } : {};
}

function typeOf({ type, items }: Schema): CliFlag['type'] {
  switch (type) {
    case 'string':
    case 'boolean':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      if (items?.type === 'object') return 'objects';
      return items?.type === 'integer' ? 'numbers' : 'list';
    case undefined:
    default:
      return 'json';
  }
}
