import type { Answer } from '../../api/table.js';
import { SmithyError } from '../../core/errors.js';
import type { GlobalFlags } from '../args.js';
import { callDaemon } from '../daemon-call.js';
import { printableJson } from '../text.js';

/** The bytes as they were, for a pipe or a file; `--json` for anything else about them. */
export async function show(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const answer = (await callDaemon(globals, 'show', {
    ...readWords(words),
    ...(globals.dialog === undefined ? {} : { dialog_id: globals.dialog }),
  })) as Answer<'show'>;
  const { content, content_base64: encoded = '' } = answer;
  const bytes = content ?? Buffer.from(encoded, 'base64');
  process.stdout.write(globals.json ? printableJson(answer) : bytes);
  return 0;
}

/** `AT:PATH`, as git has it, or the two apart. */
function readWords(words: readonly string[]): { at: string; path: string } {
  const [first = '', second, ...rest] = words;
  const colon = first.indexOf(':');
  const [at, path] =
    second === undefined
      ? [first.slice(0, Math.max(0, colon)), first.slice(colon + 1)]
      : [first, second];
  if (at !== '' && path !== '' && rest.length === 0 && !first.startsWith('-')) return { at, path };
  throw new SmithyError('INVALID_PARAMS', 'show needs a state and a file.', {
    hint: 'For example: smithyd show evt-000012:src/app.ts, or smithyd show main:src/app.ts',
  });
}
