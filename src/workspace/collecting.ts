import { Folding, type FoldingDeps } from './folding.js';
import { Retention, type RetentionDeps } from './retention.js';
import { RetentionWatch } from './retention-watch.js';

type Deps = FoldingDeps & Omit<RetentionDeps, 'folding'>;

/** What is let go of, by itself or because somebody asks. */
export function createCollecting(deps: Deps) {
  const folding = new Folding(deps);
  const retention = new Retention({ ...deps, folding });
  const retentionWatch = new RetentionWatch({ ...deps, retention });
  return { folding, retention, retentionWatch };
}
