import type { FileDiffOptions } from '../core/text-diff.js';
import { MAX_EDITS } from './align.js';

export type Limits = Required<FileDiffOptions>;

/** What a person still reads as a text; more is data, and comparing it would hold the daemon. */
export const DEFAULT_LIMITS: Limits = {
  context: 3,
  maxBytes: 1024 * 1024,
  maxLines: 20_000,
  maxEdits: MAX_EDITS,
};
