import type { Step } from '../core/restore-plan.js';
import type { Content, ContentSource } from '../core/tree-writer.js';

/**
 * Enough to keep a pipe to the store busy; small files only, large ones come as streams. Asked for
 * half at a time: one write to the pipe then carries many questions.
 */
const AHEAD = 128;

export interface Prepared {
  readonly step: Step;
  /** Rejects only when asked, so that content nobody needs any more fails nobody. */
  readonly content: () => Promise<Content>;
}

/** Steps in their order, with the content of the next ones already under way. */
export function* fetchAhead(steps: readonly Step[], source: ContentSource): Generator<Prepared> {
  let waiting: Prepared[] = [];
  for (const step of steps) {
    waiting.push(prepare(step, source));
    if (waiting.length < AHEAD) continue;
    yield* waiting.slice(0, AHEAD / 2);
    waiting = waiting.slice(AHEAD / 2);
  }
  yield* waiting;
}

function prepare(step: Step, source: ContentSource): Prepared {
  // Of a change of mode it is rarely needed, of the others never.
  if (step.kind === 'chmod') return { step, content: () => source(step.hash) };
  if (step.kind !== 'write') return { step, content: () => Promise.resolve(new Uint8Array()) };
  const fetched = source(step.hash).then(
    (content) => () => content,
    (error: unknown) => () => {
      throw error;
    },
  );
  return { step, content: async () => (await fetched)() };
}
