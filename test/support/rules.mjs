import { loadRules } from '../../dist/watch/rules/rule-set.js';

/** The real rules of a project on a machine without settings of its own. */
export function projectRules(root) {
  const config = { trackHidden: 'all', include: [], exclude: [] };
  return () => loadRules({ root, home: '/nonexistent' }, config);
}
