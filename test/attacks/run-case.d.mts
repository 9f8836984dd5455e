import type { Attack } from './all.mjs';

/** @throws what shows that the attack got through. */
export function tryAttack(attack: Attack, options?: { readonly seconds?: number }): Promise<void>;
