import { SmithyError } from '../../core/errors.js';
import { isRecord } from '../../core/is-record.js';
import { didYouMean, nearest } from '../../core/nearest.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { printableJson } from '../text.js';

/** One setting, or all of them. */
export async function configGet(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const [key, ...rest] = words;
  if (rest.length > 0 || key?.startsWith('-') === true) {
    throw new SmithyError('INVALID_PARAMS', 'config get takes one key at most.', {
      hint: 'For example: smithyd config get edits.ttlMs',
    });
  }
  const config = await callDaemon(globals, 'get_config', {});
  if (key === undefined) process.stdout.write(printableJson(config, globals.json ? 0 : 2));
  else process.stdout.write(printableJson(found(config, key)));
  return 0;
}

export async function configSet(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const [key, ...value] = words;
  if (key === undefined || value.length !== 1) {
    throw new SmithyError('INVALID_PARAMS', 'config set needs a key and a value.', {
      hint: 'For example: smithyd config set edits.ttlMs 60000',
    });
  }
  const patch = nested(key, readValue(value[0] ?? ''));
  const config = await callDaemon(globals, 'update_config', patch);
  if (globals.json) process.stdout.write(printableJson(config));
  else process.stdout.write(`${key} = ${printableJson(at(config, key))}`);
  return 0;
}

/** `edits.ttlMs` and 5 become `{edits: {ttlMs: 5}}`. */
function nested(key: string, value: unknown): Record<string, unknown> {
  return key.split('.').reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<
    string,
    unknown
  >;
}

/** Numbers, booleans and lists as JSON; everything else is text and needs no quotes. */
function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function found(config: unknown, key: string): unknown {
  const value = at(config, key);
  if (value !== undefined) return value;
  throw new SmithyError('INVALID_PARAMS', `There is no setting ${key}.`, {
    hint: didYouMean(nearest(key, keysOf(config))) ?? 'See `smithyd config get`.',
  });
}

function keysOf(config: unknown, before = ''): string[] {
  if (!isRecord(config)) return [];
  return Object.entries(config).flatMap(([name, value]) => {
    return [`${before}${name}`, ...keysOf(value, `${before}${name}.`)];
  });
}

function at(config: unknown, key: string): unknown {
  return key.split('.').reduce((inner, part) => {
    return isRecord(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined;
  }, config);
}
