import { SmithyError } from '../../core/errors.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { printableJson } from '../text.js';

/** For scripts, and for methods that have no command of their own. */
export async function call(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const [method, params = '{}', ...rest] = words;
  if (method === undefined || rest.length > 0) {
    throw new SmithyError('INVALID_PARAMS', 'call needs a method and at most one JSON object.', {
      hint: "For example: smithyd call status '{}'",
    });
  }
  const answer = await callDaemon(globals, method, readJson(params) as Record<string, unknown>);
  process.stdout.write(printableJson(answer, globals.json ? 0 : 2));
  return 0;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new SmithyError('INVALID_PARAMS', `"${text}" is not JSON.`, {
      hint: 'Quote it for the shell, as in \'{"key": "value"}\'.',
    });
  }
}
