import type { FileStep } from '../core/restore-plan.js';
import type { Outcome, SkipReason } from '../core/tree-writer.js';

/** A file that is to take the place of the one that is there. */
export type Replacement = Extract<FileStep, { readonly mode: unknown }> & {
  readonly kind: 'write';
};

/** What a thread works on, and where. */
export interface ThreadData {
  readonly root: string;
  /** Which folder the root has to be. */
  readonly identity: string;
  readonly mostHeld: number;
}

export interface WriteRequest {
  readonly id: number;
  readonly steps: readonly Replacement[];
  /** The contents one after another: one piece of memory that can be handed over. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly lengths: readonly number[];
}

export interface WriteReply {
  readonly id: number;
  readonly outcomes: readonly Outcome[];
  /** Steps that turned out to be none for a thread, by their place in the request. */
  readonly left: readonly number[];
  /** Why the thread writes nothing more. */
  readonly stopped: SkipReason | undefined;
}

export function encodeRequest(
  id: number,
  given: readonly { readonly step: Replacement; readonly content: Uint8Array }[],
): WriteRequest {
  const lengths = given.map(({ content }) => content.length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const { content } of given) {
    bytes.set(content, at);
    at += content.length;
  }
  return { id, steps: given.map(({ step }) => step), bytes, lengths };
}

export function* decodeRequest({
  steps,
  bytes,
  lengths,
}: WriteRequest): Generator<{ readonly step: Replacement; readonly content: Uint8Array }> {
  let at = 0;
  for (const [number, step] of steps.entries()) {
    const end = at + (lengths[number] ?? 0);
    yield { step, content: bytes.subarray(at, end) };
    at = end;
  }
}
