import type { RuleSet } from '../../src/core/watching.js';

export function plainRules(root: string): () => Promise<RuleSet>;
