import { SmithyError } from '../core/errors.js';
import { toPath } from '../core/paths.js';
import type { Check, Clock, Diagnostics } from '../core/ports.js';
import { describeProblems } from '../core/schema-problems.js';
import type { Watcher } from '../core/watching.js';
import type { EventStream } from './event-stream.js';
import { publishChanges } from './intake.js';
import { knownFiles, type KnownFilesPage, type KnownFilesQuery } from './known-files.js';
import type { Metrics } from './metrics.js';
import type { LiveSettings } from './settings.js';

/** What stays the same as long as the daemon runs. */
export interface Identity {
  readonly version: string;
  readonly protocol: number;
  readonly pid: number;
  readonly root: string;
}

export interface WorkspaceDeps {
  readonly identity: Identity;
  readonly clock: Clock;
  readonly settings: LiveSettings;
  readonly watcher: Watcher;
  readonly diagnostics: Diagnostics;
  readonly events: EventStream;
  readonly metrics: Metrics;
  readonly memoryBytes: () => number;
  /** What the tracking rules could not take in, one sentence each. */
  readonly ruleWarnings: () => readonly string[];
  /** Begins the orderly end; returns at once. */
  readonly stop: (reason: string) => void;
}

export type Workspace = ReturnType<typeof createWorkspace>;

/** Lists in `status` are for a glance. */
const MOST_LISTED = 100;

/** The product of one project root: its verbs, over ports. */
export function createWorkspace(deps: WorkspaceDeps) {
  const { identity, clock, settings, watcher, events } = deps;
  const startedAt = clock.monotonic();
  publishChanges(watcher, events, () => settings.config());
  settings.onChange((config) => watcher.reconfigure(config));

  const uptime = (): number => Math.round(clock.monotonic() - startedAt);

  function status() {
    const { nestedRepositories, nestedRoots, ...health } = watcher.health();
    return {
      ...identity,
      uptime_ms: uptime(),
      current_dialog_id: null,
      watcher: {
        ...health,
        nested_repositories: nestedRepositories.slice(0, MOST_LISTED),
        nested_roots: nestedRoots.slice(0, MOST_LISTED),
      },
      edits_open: 0,
      ledger: { events: 0, bytes: 0 },
      store: { bytes: 0, objects: 0, packs: 0, limit_bytes: settings.config().store.limitBytes },
      memory_bytes: deps.memoryBytes(),
      warnings: [
        ...settings.problems().map((problem) => `config.json: ${describeProblems([problem])}`),
        ...deps.ruleWarnings(),
      ],
    };
  }

  return {
    events,
    settings,
    status,

    async statusWithReason(path: string) {
      const explained = await watcher.explain(toPath(path, identity.root));
      const { decision, at, sentence } = explained;
      const { tracked, reason, rule } = decision;
      const why = { path: explained.path, tracked, reason, at, sentence };
      return { ...status(), why: rule === undefined ? why : { ...why, rule } };
    },

    knownFiles: (query: KnownFilesQuery): Promise<KnownFilesPage> =>
      knownFiles(watcher, identity.root, query),

    async rescan(): Promise<{ fresh: boolean; files: number; duration_ms: number }> {
      const begun = clock.monotonic();
      await watcher.rescan();
      const { fresh, files } = watcher.health();
      return { fresh, files, duration_ms: Math.round(clock.monotonic() - begun) };
    },

    metricsText: (): string =>
      deps.metrics.render({
        smithyd_uptime_seconds: uptime() / 1000,
        smithyd_memory_bytes: deps.memoryBytes(),
        smithyd_known_files: watcher.health().files,
        smithyd_fresh: watcher.health().fresh ? 1 : 0,
      }),

    async doctor(repair: boolean): Promise<{ ok: boolean; checks: Check[] }> {
      const checks = [...(await deps.diagnostics.run(repair)), configCheck(), watchCheck()];
      return { ok: checks.every((check) => check.ok), checks };
    },

    shutdown: (): void => deps.stop('asked by a client'),
  };

  function configCheck(): Check {
    const problems = settings.problems();
    const ok = problems.length === 0;
    const detail = ok ? 'every setting is understood' : describeProblems(problems);
    return { name: 'configuration', ok, detail };
  }

  function watchCheck(): Check {
    const { state, fresh, files, reason, remedy } = watcher.health();
    const trouble = [reason, remedy].filter((text) => text !== undefined).join(': ');
    const detail = trouble === '' ? `${state}, ${files} files known` : trouble;
    return { name: 'watcher', ok: state === 'starting' || fresh, detail };
  }
}

/** For requests that a stopping daemon no longer takes. */
export function shuttingDown(): SmithyError {
  return new SmithyError('SHUTTING_DOWN', 'The daemon is stopping.', {
    hint: 'Call again in a moment; a new daemon starts on demand.',
    data: { retry_after_ms: 500 },
  });
}
