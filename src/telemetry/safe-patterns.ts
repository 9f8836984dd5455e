import { RE2JS } from 're2js';
import type { Matching } from '../core/changes/noise.js';

/**
 * Patterns that come with a project: RE2 takes time that grows with the text and with nothing else,
 * whatever the pattern is.
 *
 * @throws Error when it is no pattern of that kind.
 */
export const safely: Matching = (pattern) => {
  const expression = RE2JS.compile(pattern);
  return (text) => expression.matcher(text).find();
};
