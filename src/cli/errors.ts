import { SmithyError } from '../core/errors.js';
import { systemCode } from '../core/system-errors.js';
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

/** What went wrong in this process: no daemon had a part in it, and its log knows nothing of it. */
export function ownFailure(thrown: unknown): SmithyError {
  const error = SmithyError.from(thrown);
  if (error === thrown || error.code !== 'INTERNAL') return error;
  const reason = systemCode(thrown) ?? '';
  if (!/^E[A-Z0-9]+$/u.test(reason)) {
    return new SmithyError('INTERNAL', 'This command hit an unexpected error.', { cause: thrown });
  }
  const { message, syscall: op = 'unknown' } = thrown as NodeJS.ErrnoException;
  return new SmithyError('STORAGE_IO', `The system refused: ${message}.`, { data: { op, reason } });
}

/** An answer that went nowhere, though what was asked for is done. */
export function unwritten(cause: Error): SmithyError {
  const data = { op: 'write', reason: systemCode(cause) ?? 'unknown' };
  const message = `The output could not be written: ${cause.message}.`;
  return new SmithyError('STORAGE_IO', message, { data, cause });
}
