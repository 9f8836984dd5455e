/** All faults there are, how one is tried, and those that cannot happen here, with the reason. */
import { performance } from 'node:perf_hooks';
import { checkAftermath } from './aftermath.mjs';
import { clients } from './clients.mjs';
import { crashPoints } from './crash-points.mjs';
import { daemonLifetime } from './daemon-lifetime.mjs';
import { diskAndLimits } from './disk-and-limits.mjs';
import { gitStore } from './git-store.mjs';
import { ledgerAndIndex } from './ledger.mjs';
import { oddFiles } from './odd-files.mjs';
import { Stage } from './stage.mjs';
import { watching } from './watching.mjs';

export const LAST = 140;
export const CASES = [
  ...crashPoints,
  ...diskAndLimits,
  ...daemonLifetime,
  ...watching,
  ...oddFiles,
  ...gitStore,
  ...ledgerAndIndex,
  ...clients,
];

const REPLAY = 'there is no replay yet, so there are no cassettes';
export const NOT_APPLICABLE = {
  F119: REPLAY,
  F120: REPLAY,
  F121: REPLAY,
  F122: REPLAY,
};

/** { outcome: survived | failed | skipped, reason?, ms }. */
export async function tryFault(fault, { cli, env }) {
  const why = fault.needs?.();
  if (why !== undefined) return { outcome: 'skipped', reason: why, ms: 0 };
  const begun = performance.now();
  const stage = new Stage({ cli, env });
  try {
    await fault.run(stage);
    await checkAftermath(stage);
    return { outcome: 'survived', ms: performance.now() - begun };
  } catch (error) {
    return { outcome: 'failed', reason: error.stack, ms: performance.now() - begun };
  } finally {
    await stage.end();
  }
}
