import { isProtected } from './paths.js';
import type { Entry, FileStep } from './restore-plan.js';

/**
 * What is at a path, seen without following links. `other`: a folder, a special file, a link or
 * file on the way to it. `unsettled`: it changed while it was read.
 */
export type Found =
  { readonly kind: 'nothing' | 'other' | 'unsettled' } | ({ readonly kind: 'entry' } & Entry);

export type Verdict = 'go' | 'unchanged' | 'changed_meanwhile' | 'in_the_way';

/** May this step be done to what is there? Asked before the work and again right before the replace. */
export function judge(step: FileStep, found: Found): Verdict {
  if (step.kind === 'delete') {
    if (found.kind === 'nothing') return 'unchanged';
    return isEntry(found, step.expect) ? 'go' : 'changed_meanwhile';
  }
  if (isEntry(found, step)) return 'unchanged';
  // Nothing there is nothing to lose, even if the plan expects something.
  if (found.kind === 'nothing' && step.kind === 'write') return 'go';
  if (step.expect === null) return 'in_the_way';
  return isEntry(found, step.expect) ? 'go' : 'changed_meanwhile';
}

function isEntry(found: Found, { mode, hash }: Entry): boolean {
  return found.kind === 'entry' && found.mode === mode && found.hash === hash;
}

/** The parts of a path, or undefined for one that must never be touched, whoever planned it. */
export function safeParts(path: string): readonly string[] | undefined {
  // A lone surrogate has no bytes: the name on disk would be another one.
  if (path.includes('\0') || /\p{Surrogate}/u.test(path)) return undefined;
  const parts = path.split('/');
  const isUnsafe = (part: string) =>
    part === '' || part === '.' || part === '..' || isProtected(part);
  return parts.some(isUnsafe) ? undefined : parts;
}
