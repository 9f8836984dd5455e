import type { RuleSet } from '../../src/core/tracking.js';

export function projectRules(root: string): () => Promise<RuleSet>;
