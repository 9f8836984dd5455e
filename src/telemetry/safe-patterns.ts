import { RE2JS } from 're2js';
import type { Matching } from '../core/changes/noise.js';
import type { Finding } from '../core/redaction/redactor.js';

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

/** Every place of it in the text; what it finds without any length is nowhere. */
export const finding: Finding = (pattern) => {
  const expression = RE2JS.compile(pattern);
  return function* (text) {
    const matcher = expression.matcher(text);
    while (matcher.find()) yield [matcher.start(), matcher.end()];
  };
};
