import { createHash } from 'node:crypto';
import { createRules } from '../../core/rules.js';
import type { OuterRules, RuleSet } from '../../core/tracking.js';
import { readRuleSources, type SourceOptions } from './rule-sources.js';

/** Bump when the same sources lead to other decisions than before: every path is decided anew. */
const RULES_VERSION = 1;

/** Reads git's rules and ours for one root; `also` is let in besides what the settings include. */
export async function loadRules(
  options: SourceOptions,
  settings: OuterRules['config'],
  also: readonly string[] = [],
): Promise<RuleSet> {
  const { outside, warnings, repository, rootIgnore, ...sources } = await readRuleSources(options);
  const { trackHidden, include, exclude } = settings;
  const outer = { config: { trackHidden, include, exclude }, ...sources };
  const given = {
    ...outer,
    config: { ...outer.config, include: [...include, ...also] },
    ...(rootIgnore === undefined ? {} : { rootIgnore }),
  };
  const root = createRules(given);
  const named = { ...given, top: repository?.top };
  return {
    root,
    outer,
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
