import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { SmithyError } from '../core/errors.js';
import type { Path } from '../core/model.js';
import type { Step } from '../core/restore-plan.js';
import { safeParts } from '../core/restore-verdict.js';
import { isTemporary } from '../core/tree-writer.js';
import type { Outcome, TreeWriter } from '../core/tree-writer.js';
import { fetchAhead } from './ahead.js';
import type { StepDeps } from './file-steps.js';
import { createLastHold, mostOpenFiles, noHold } from './last-hold.js';
import { createEye, statOf } from './look.js';
import { createPace } from './pace.js';
import { createPerformer } from './performer.js';
import { kindAt, readContent, readFile } from './reading.js';
import { requireSpace } from './space.js';
import { makingAs } from './user-mask.js';
import { bestHold, identify, openWalk } from './walk.js';
import type { Hold } from './walk.js';
import { replaceInThreads, THREADS, WORTH_THREADS } from './write-threads.js';
import type { Replacement } from './write-wire.js';

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
  const mostOpen = mostOpenFiles();
  const lastHold = hold === 'descriptor' ? createLastHold(mostOpen) : noHold;

  function openTree(): Tree {
    const pace = createPace();
    const walk = openWalk({ root, hold, pace, making });
    if (walk.identity === identity) {
      return { walk, pace, making, lastHold, eye: createEye(pace) };
    }
    walk.close();
    throw anotherRoot(root);
  }

  async function inTree<T>(work: (tree: Tree) => Promise<T>): Promise<T> {
    const tree = openTree();
    try {
      return await work(tree);
    } finally {
      tree.walk.close();
    }
  }

  return {
    apply: (steps, source, { signal, onProgress, bytes } = {}) =>
      inTree(async (tree) => {
        if (bytes !== undefined) requireSpace(root, bytes);
        const performer = createPerformer({ ...tree, signal });
        const outcomes = new Map<string, Outcome>();
        let count = 0;
        let begun: ReadonlySet<Path> = new Set();
        const done = (outcome: Outcome): void => {
          const isOurs = outcome.result === 'unchanged' && begun.has(outcome.path);
          outcomes.set(keyOf(outcome), isOurs ? { ...outcome, result: 'restored' } : outcome);
          count += 1;
          onProgress?.(count);
        };
        const stopping = performer.stopping(source);
        const replacements = hold === 'descriptor' ? steps.filter(isReplacement) : [];
        let rest = steps;
        if (replacements.length >= WORTH_THREADS) {
          const work = { root, identity, mostHeld: Math.floor(mostOpen / THREADS) };
          const after = await replaceInThreads({
            ...{ ...work, steps: replacements, source: stopping, performer, signal, done },
          });
          begun = after.begun;
          // Before the rest, which deletes: they are what needs space.
          rest = [...after.left, ...steps.filter((step) => !isReplacement(step))];
        }
        try {
          for (const prepared of fetchAhead(rest, stopping)) {
            done(await performer.perform(prepared));
            await lastHold.room();
            await tree.pace.breathe();
          }
        } finally {
          lastHold.letGo();
        }
        if (begun.size > 0) await sweep(tree, begun);
        return inOrder(steps, outcomes);
      }),
    readFile: (path) => inTree((tree) => readFile(tree, path)),
    kindAt: (path) => inTree((tree) => Promise.resolve(kindAt(tree, path))),
    async reading(work) {
      // Opened by the first who reads: all that is to be saved may be in memory.
      let tree: Tree | undefined;
      try {
        return await work(async (path) => readContent((tree ??= openTree()), path));
      } finally {
        tree?.walk.close();
      }
    },
    placeOf: (path) => join(root, path),
    sweep: (paths) => inTree((tree) => sweep(tree, paths)),
  };
}

/** It needs no other step before it, and no other step needs it. */
function isReplacement(step: Step): step is Replacement {
  return (
    step.kind === 'write' &&
    step.mode !== '120000' &&
    step.expect !== null &&
    step.expect.mode !== '120000'
  );
}

function inOrder(steps: readonly Step[], outcomes: ReadonlyMap<string, Outcome>): Outcome[] {
  return steps.flatMap((step) => outcomes.get(keyOf(step)) ?? []);
}

/** A file that gives way to a folder has two steps, and so has a folder that gives way to a file. */
function keyOf({ path, kind }: Pick<Step, 'path' | 'kind'>): string {
  return kind === 'make_folder' || kind === 'remove_folder' ? `${path}/` : path;
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
