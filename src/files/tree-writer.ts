import { readdirSync, unlinkSync } from 'node:fs';
import { SmithyError } from '../core/errors.js';
import type { Path } from '../core/model.js';
import type { Step } from '../core/restore-plan.js';
import { safeParts } from '../core/restore-verdict.js';
import { isTemporary } from '../core/tree-writer.js';
import type { ContentSource, Outcome, SkipReason, TreeWriter } from '../core/tree-writer.js';
import type { Prepared } from './ahead.js';
import { fetchAhead } from './ahead.js';
import { applyFileStep } from './file-steps.js';
import type { StepDeps, StepResult } from './file-steps.js';
import { applyFolderStep } from './folder-steps.js';
import { createLastHold, noHold } from './last-hold.js';
import { createEye, statOf } from './look.js';
import { createPace } from './pace.js';
import { kindAt, readContent, readFile } from './reading.js';
import { hasCode, isDiskFull, toReason } from './reasons.js';
import { requireSpace } from './space.js';
import { makingAs } from './user-mask.js';
import { bestHold, identify, openWalk } from './walk.js';
import type { Hold } from './walk.js';

export interface TreeWriterDeps {
  /** The project root. Which folder that is, is settled now: another one at its path is refused. */
  readonly root: string;
  /** The user's own mask for new files; absent: that of this process. */
  readonly umask?: number | undefined;
  /** Default: the safest the system has. */
  readonly hold?: Hold;
}

type Tree = Omit<StepDeps, 'signal'>;

export function createTreeWriter({ root, umask, hold = bestHold() }: TreeWriterDeps): TreeWriter {
  const identity = identify(root);
  const making = makingAs(umask);
  const lastHold = hold === 'descriptor' ? createLastHold() : noHold;

  async function inTree<T>(work: (tree: Tree) => Promise<T>): Promise<T> {
    const pace = createPace();
    const walk = openWalk({ root, hold, pace, making });
    try {
      if (walk.identity !== identity) throw anotherRoot(root);
      return await work({ walk, pace, making, lastHold, eye: createEye(pace) });
    } finally {
      walk.close();
    }
  }

  return {
    apply: (steps, source, { signal, onProgress, bytes } = {}) =>
      inTree(async (tree) => {
        if (bytes !== undefined) requireSpace(root, bytes);
        const performer = createPerformer({ ...tree, signal });
        const outcomes = new Map<Path, Outcome>();
        let done = 0;
        try {
          for await (const prepared of fetchAhead(steps, performer.stopping(source))) {
            const outcome = await performer.perform(prepared);
            // A folder that gave way to a file has two steps; the file's is the last word.
            outcomes.set(outcome.path, outcome);
            done += 1;
            onProgress?.(done);
            await lastHold.room();
            await tree.pace.breathe();
          }
        } finally {
          lastHold.letGo();
        }
        return [...outcomes.values()];
      }),
    readFile: (path) => inTree((tree) => readFile(tree, path)),
    kindAt: (path) => inTree((tree) => Promise.resolve(kindAt(tree, path))),
    reading: (work) => inTree((tree) => work((path) => readContent(tree, path))),
    sweep: (paths) => inTree((tree) => sweep(tree, paths)),
  };
}

/** Turns whatever happens to one step into its outcome, and knows when to stop. */
function createPerformer(deps: StepDeps) {
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

  /** Asks for nothing more once nothing more is written. */
  function stopping(source: ContentSource): ContentSource {
    return (hash) => (stopped === undefined ? source(hash) : Promise.resolve(new Uint8Array()));
  }

  return { perform, stopping };
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

async function sweep({ walk, pace }: Tree, paths: Iterable<Path>): Promise<Path[]> {
  const removed: Path[] = [];
  const folders = new Set<string>();
  for (const path of paths) folders.add(path.slice(0, Math.max(path.lastIndexOf('/'), 0)));
  for (const path of folders) {
    const parts = path === '' ? [] : safeParts(path);
    const folder = parts === undefined ? 'blocked' : walk.enter(parts);
    if (folder === 'missing' || folder === 'blocked') continue;
    for (const name of readdirSync(folder.at('.')).filter(isTemporary)) {
      const stat = statOf(folder.at(name));
      if (stat?.isFile() !== true && stat?.isSymbolicLink() !== true) continue;
      unlinkSync(folder.at(name));
      removed.push((path === '' ? name : `${path}/${name}`) as Path);
    }
    await pace.breathe();
  }
  return removed;
}

function anotherRoot(root: string): SmithyError {
  return new SmithyError('RESTORE_BLOCKED', `${root} is no longer the folder it was.`, {
    hint: 'Restart the daemon if the new folder is the project.',
    data: { root },
  });
}
