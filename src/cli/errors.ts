import type { SmithyError } from '../core/errors.js';
import { paint, printable, printableJson } from './text.js';

/** What a person, or with `--json` a program, reads on stderr. */
export function describeError(
  error: SmithyError,
  { json, colour }: { json: boolean; colour: boolean },
): string {
  if (json) return printableJson({ error: { ...error.toWire().data, message: error.message } });
  const lines = [`${paint(colour, 'red', 'smithyd:')} ${printable(error.message)}`];
  if (error.hint !== undefined) lines.push(`  ${printable(error.hint)}`);
  // A bug of ours: the one case where the inside is worth showing.
  if (error.code === 'INTERNAL' && error.cause instanceof Error) {
    lines.push(`  ${printable(error.cause.message)}`);
  }
  return `${lines.join('\n')}\n`;
}
