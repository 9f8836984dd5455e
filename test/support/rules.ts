import type { RuleSet } from '../../src/core/tracking.js';
import { loadRules } from '../../src/watch/rule-set.js';

/** The real rules of a project on a machine without settings of its own. */
export function projectRules(root: string): () => Promise<RuleSet> {
  const config = { trackHidden: 'all', include: [], exclude: [] } as const;
  return () => loadRules({ root, home: '/nonexistent' }, config);
}
