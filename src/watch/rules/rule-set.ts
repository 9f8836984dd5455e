import { createHash } from 'node:crypto';
import type { RuleSet } from '../../core/tracking.js';
import { readRuleSources, type SourceOptions } from './rule-sources.js';
import { createRules, type RuleOptions } from './rules.js';

/** Bump when the same sources lead to other decisions than before: every path is decided anew. */
const RULES_VERSION = 1;

/** Reads git's rules and ours for one root. */
export async function loadRules(
  options: SourceOptions,
  config: RuleOptions['config'],
): Promise<RuleSet> {
  const { outside, warnings, repository, ...sources } = await readRuleSources(options);
  const { trackHidden, include, exclude } = config;
  const given = { config: { trackHidden, include, exclude }, ...sources };
  const root = createRules(given);
  const named = { ...given, top: repository?.top };
  return {
    root,
    fingerprint: createHash('sha1')
      .update(`${RULES_VERSION}\n${JSON.stringify(named)}`)
      .digest('hex'),
    outside,
    isPartial: warnings.some(({ code }) => code === 'OUT_OF_DESCRIPTORS'),
    warnings: [
      ...warnings.map(({ detail }) => detail),
      ...root.dropped().map(({ rule, why }) => {
        return `${rule.source}:${rule.line} is not applied (${why.replaceAll('_', ' ')})`;
      }),
    ],
  };
}
