import { SmithyError } from '../core/errors.js';
import { systemCode } from '../core/system-errors.js';

/** It is no archive of ours, or not all of it. */
export function damaged(why: string): SmithyError {
  return new SmithyError('STORE_CORRUPT', `The archive cannot be taken in: ${why}.`, {
    hint: 'Nothing was taken in. Export the snapshot again.',
    data: { why },
  });
}

export function tooMuch(what: string, limit: number): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `The archive holds more than ${limit} ${what}.`, {
    hint: 'Nothing was taken in. The setting store.limitBytes bounds what an archive may hold.',
    data: { limit: what, value: limit, setting: 'store.limitBytes' },
  });
}

/** Reading from the system's own refusals what the caller can do about them. */
export function refusedBySystem(path: string, error: unknown): SmithyError {
  const code = systemCode(error) ?? '';
  const details = { data: { path, reason: code, op: 'archive' }, cause: error };
  if (code === 'EEXIST') {
    return new SmithyError('NAME_TAKEN', `${path} is there already.`, {
      ...details,
      hint: 'Choose another name; nothing is ever overwritten.',
    });
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new SmithyError('STORAGE_FULL', `There is no room for ${path}.`, {
      ...details,
      hint: 'Free some space and try again.',
    });
  }
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'].includes(code)) {
    return new SmithyError('PATH_UNSUPPORTED', `${path} cannot be used: ${code}.`, {
      ...details,
      hint: 'Name a file in a folder that exists and that you may use.',
    });
  }
  return new SmithyError('STORAGE_IO', `${path} could not be used: ${code}.`, details);
}
