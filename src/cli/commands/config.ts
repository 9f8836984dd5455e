import { SmithyError } from '../../core/errors.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { printableJson } from '../text.js';

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

function at(config: unknown, key: string): unknown {
  return key.split('.').reduce((inner, part) => (inner as Record<string, unknown>)[part], config);
}
