import { SmithyError } from '../core/errors.js';
import type { Hash } from '../core/model.js';
import { isDiskFull } from '../core/system-errors.js';

const LONGEST_STDERR = 4096;
const IS_FULL = /No space left on device|Out of diskspace|Disk quota exceeded/iu;
/** Then git may call an object damaged that it only could not read. */
const IS_REFUSED = /Too many open files|Cannot allocate memory|Input\/output error/iu;
const IS_CORRUPT = /is corrupt|inflate:|checksum mismatch|unable to read tree|bad object/iu;

/** What a failed git child means to a caller. */
export function gitFailure(op: string, stderr: string, cause?: unknown): SmithyError {
  const text = stderr.trim().slice(-LONGEST_STDERR);
  const data = { op: `git.${op}`, stderr: text };
  if (IS_FULL.test(text)) return full(data, cause);
  if (IS_CORRUPT.test(text) && !IS_REFUSED.test(text)) return corrupt(text, data, cause);
  return new SmithyError('STORAGE_IO', `git ${op} failed: ${reasonIn(text)}`, {
    hint: 'Nothing acknowledged is lost. Try again; `smithyd doctor` checks the store.',
    data,
    cause,
  });
}

/** The same for our own calls to the file system. */
export function diskFailure(op: string, cause: unknown): SmithyError {
  if (cause instanceof SmithyError) return cause;
  const data = { op: `store.${op}` };
  if (isDiskFull(cause)) return full(data, cause);
  const { message = '' } = Object(cause) as { message?: string };
  return new SmithyError('STORAGE_IO', `The store cannot be written: ${message}`, {
    hint: 'Nothing acknowledged is lost. Check the disk, then restart the daemon.',
    data,
    cause,
  });
}

export function full(data: Readonly<Record<string, unknown>>, cause?: unknown): SmithyError {
  return new SmithyError('STORAGE_FULL', 'There is no space for the checkpoint.', {
    hint: 'Free some space or delete old dialogs, then try again; nothing was changed.',
    data,
    cause,
  });
}

function corrupt(text: string, data: Readonly<Record<string, unknown>>, cause: unknown) {
  const reason = text.split('\n').find((line) => IS_CORRUPT.test(line)) ?? text;
  return new SmithyError('STORE_CORRUPT', `The store is damaged: ${reason}`, {
    hint: 'Run `smithyd doctor`.',
    data,
    cause,
  });
}

/** Its complaint; some commands say before it how far they got. */
function reasonIn(text: string): string {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.find((line) => /^(?:fatal|error):/u.test(line)) ?? lines[0] ?? 'it said nothing';
}

export function noBlob(hash: Hash): SmithyError {
  return new SmithyError('STORE_CORRUPT', `The content ${hash} is not in the store.`, {
    hint: 'Run `smithyd doctor`.',
    data: { hash },
  });
}

export function closed(): SmithyError {
  return new SmithyError('SHUTTING_DOWN', 'The store is closed.', {
    hint: 'Call again in a moment; a new daemon starts on demand.',
    data: { retry_after_ms: 500 },
  });
}

export function busy(): SmithyError {
  return new SmithyError('BUSY', 'The store is being tidied up already.', {
    hint: 'Wait for it.',
    data: { retry_after_ms: 1000 },
  });
}

export function noTree(id: string): SmithyError {
  return new SmithyError('STORE_CORRUPT', `The tree ${id} is not in the store.`, {
    hint: 'Run `smithyd doctor`.',
    data: { hash: id },
  });
}
