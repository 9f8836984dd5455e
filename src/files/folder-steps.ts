import { rmdirSync } from 'node:fs';
import type { FolderStep } from '../core/restore-plan.js';
import { safeParts } from '../core/restore-verdict.js';
import type { StepResult } from './file-steps.js';
import { statOf } from './look.js';
import { hasCode } from './reasons.js';
import type { Walk } from './walk.js';

/** `EEXIST` is what some systems say for a folder with something in it. */
const NOT_OURS_TO_REMOVE = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR'];

export function applyFolderStep(walk: Walk, { kind, path }: FolderStep): StepResult {
  const parts = safeParts(path);
  if (parts === undefined) return { reason: 'protected' };
  return kind === 'make_folder' ? make(walk, parts) : remove(walk, parts);
}

function make(walk: Walk, parts: readonly string[]): StepResult {
  const known = walk.enter(parts);
  if (known === 'blocked') return { reason: 'in_the_way' };
  if (known !== 'missing') return 'unchanged';
  const made = walk.enter(parts, 'create');
  return made === 'missing' || made === 'blocked' ? { reason: 'in_the_way' } : 'restored';
}

/** Only ever rmdir: what is not empty, or no folder any more, holds something that is not ours. */
function remove(walk: Walk, parts: readonly string[]): StepResult {
  const name = parts.at(-1) ?? '';
  const parent = walk.enter(parts.slice(0, -1));
  if (parent === 'missing' || parent === 'blocked') return 'unchanged';
  if (statOf(parent.at(name))?.isDirectory() !== true) return 'unchanged';
  try {
    rmdirSync(parent.at(name));
    return 'deleted';
  } catch (error) {
    if (hasCode(error, ...NOT_OURS_TO_REMOVE)) return 'unchanged';
    throw error;
  }
}
