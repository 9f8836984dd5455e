export interface Keyed {
  readonly key: string;
}

/**
 * Items in the order of their keys, at the cost of those asked for: a heap, where sorting would
 * cost the same for the first one as for all. Takes the array over.
 */
export function* smallestFirst<T extends Keyed>(heap: T[]): Generator<T> {
  for (let at = Math.floor(heap.length / 2) - 1; at >= 0; at -= 1) sink(heap, at);
  for (let first = heap[0]; first !== undefined; first = heap[0]) {
    yield first;
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return;
    heap[0] = last;
    sink(heap, 0);
  }
}

/** Moves one item down until both below it are larger. */
function sink(heap: Keyed[], from: number): void {
  for (let at = from; ;) {
    const least = leastOf(heap, at);
    const [above, below] = [heap[at], heap[least]];
    if (least === at || above === undefined || below === undefined) return;
    heap[at] = below;
    heap[least] = above;
    at = least;
  }
}

/** Of an item and the two below it. */
function leastOf(heap: readonly Keyed[], at: number): number {
  let least = at;
  for (const child of [2 * at + 1, 2 * at + 2]) {
    const [candidate, best] = [heap[child], heap[least]];
    if (candidate !== undefined && best !== undefined && candidate.key < best.key) least = child;
  }
  return least;
}
