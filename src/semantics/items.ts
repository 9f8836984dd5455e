import type { Part } from '../core/outline.js';

/** A part of a data file while it is read. */
export interface Entry extends Part {
  name: string;
  last: number;
  /** It is an item of a list, and `name` its index. */
  readonly item: boolean;
  /** Of a text. */
  value?: string;
}

const NAMING_KEYS = ['id', 'name'];
const LOOKS_LIKE_AN_INDEX = /^\d+$/u;

/**
 * Calls items by their `id` or `name` where no other item of the list has it: an index changes
 * with every item that is added before it.
 */
export function nameItems(entries: readonly Entry[]): void {
  const namesOfItems = new Map<number, string>();
  for (const key of NAMING_KEYS) {
    for (const { parent, name, value } of entries) {
      if (name !== key || !value || namesOfItems.has(parent)) continue;
      if (entries[parent]?.item === true && !LOOKS_LIKE_AN_INDEX.test(value)) {
        namesOfItems.set(parent, value);
      }
    }
  }
  const uses = new Map<string, number>();
  const useOf = (item: number, name: string): string => `${entries[item]?.parent ?? -1} ${name}`;
  for (const [item, name] of namesOfItems) {
    uses.set(useOf(item, name), (uses.get(useOf(item, name)) ?? 0) + 1);
  }
  for (const [item, name] of namesOfItems) {
    const entry = entries[item];
    if (entry !== undefined && uses.get(useOf(item, name)) === 1) entry.name = name;
  }
}
