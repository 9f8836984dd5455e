import type { WatchHealth } from '../core/watching.js';
import type { Doubts } from './doubt.js';
import type { KnownTree } from './known/tree.js';

interface Sources {
  readonly engine: WatchHealth['engine'];
  readonly tree: KnownTree;
  readonly doubts: Doubts;
  readonly isReady: boolean;
  readonly isLost: boolean;
}

/** How far what is known can be trusted, and what is known. */
export function healthOf({ engine, tree, doubts, isReady, isLost }: Sources): WatchHealth {
  const isDegraded = isLost || doubts.isDegraded;
  const { reason, remedy } = isLost ? LOST : doubts.report;
  return {
    engine,
    state: isDegraded ? 'degraded' : isReady ? 'ready' : 'starting',
    fresh: isReady && !isDegraded && doubts.isClear,
    files: tree.files,
    dirs: tree.folders.size,
    reason,
    remedy,
    skipped: tree.skipped.size,
    nestedRepositories: [...tree.nestedRepositories],
    nestedRoots: [...tree.nestedRoots],
  };
}

const LOST = {
  reason: 'root_lost',
  remedy: 'Put the project folder back, or stop this daemon and start one in the new place.',
} as const;
