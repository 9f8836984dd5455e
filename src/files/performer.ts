import type { Step } from '../core/restore-plan.js';
import type { ContentSource, Outcome, SkipReason } from '../core/tree-writer.js';
import type { Prepared } from './ahead.js';
import { applyFileStep } from './file-steps.js';
import type { StepDeps, StepResult } from './file-steps.js';
import { applyFolderStep } from './folder-steps.js';
import { isDiskFull } from '../core/system-errors.js';
import { hasCode, toReason } from './reasons.js';

export interface Performer {
  perform(prepared: Prepared): Promise<Outcome>;
  /** Asks for nothing more once nothing more is written. */
  stopping(source: ContentSource): ContentSource;
  /** Nothing more is written, for this reason: here, or where others work on the same steps. */
  stop(reason: SkipReason): void;
  stopped(): SkipReason | undefined;
}

/** Turns whatever happens to one step into its outcome, and knows when to stop. */
export function createPerformer(deps: StepDeps): Performer {
  let stopped: SkipReason | undefined;

  async function perform({ step, content }: Prepared): Promise<Outcome> {
    if (deps.signal?.aborted === true) stopped ??= 'cancelled';
    if (stopped !== undefined) return toOutcome(step, { reason: stopped });
    try {
      return toOutcome(step, await performStep(deps, { step, content }));
    } catch (error) {
      const isCancelled = deps.signal?.aborted === true && error === deps.signal.reason;
      const reason = isCancelled ? 'cancelled' : toReason(error);
      if (isCancelled || isDiskFull(error)) stopped = reason;
      // The folder we held was removed under us.
      return toOutcome(step, { reason: hasCode(error, 'ENOENT') ? 'changed_meanwhile' : reason });
    }
  }

  function stopping(source: ContentSource): ContentSource {
    return (hash) => (stopped === undefined ? source(hash) : Promise.resolve(new Uint8Array()));
  }

  return {
    perform,
    stopping,
    stop: (reason) => {
      stopped ??= reason;
    },
    stopped: () => stopped,
  };
}

function performStep(
  deps: StepDeps,
  { step, content }: Prepared,
): Promise<StepResult> | StepResult {
  if ('expect' in step) return applyFileStep(deps, step, content);
  return applyFolderStep(deps.walk, step);
}

function toOutcome({ path, kind }: Step, result: StepResult): Outcome {
  if (typeof result === 'string') return { path, kind, result };
  return { path, kind, result: 'skipped', reason: result.reason };
}
