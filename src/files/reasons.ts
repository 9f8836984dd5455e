import { SmithyError } from '../core/errors.js';
import { isDiskFull } from '../core/system-errors.js';
import type { SkipReason } from '../core/tree-writer.js';

export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(codeOf(error));
}

/** `EACCES: permission denied`, without the path behind it: that one is ours, not the user's. */
export function toReason(error: unknown): SkipReason {
  if (error instanceof SmithyError) return `${error.code}: ${error.message}`;
  const text = fieldOf(error, 'message') ?? String(error);
  if (isDiskFull(error)) return 'ENOSPC: no space left on the disk';
  const code = codeOf(error);
  const [said = text] = text.split(/, [a-z]+ '/u);
  return said.startsWith(`${code}: `) ? (said as SkipReason) : `${code}: ${said}`;
}

function codeOf(error: unknown): string {
  return fieldOf(error, 'code') ?? 'ERROR';
}

function fieldOf(error: unknown, name: string): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
