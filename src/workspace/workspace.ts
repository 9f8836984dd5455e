import type { Config } from '../core/config.js';
import { SmithyError } from '../core/errors.js';
import type { Check, Clock, Diagnostics, SettingsFile } from '../core/ports.js';
import { describeProblems } from '../core/schema-problems.js';
import { readSettings, updateSettings, type RawSettings } from '../core/settings.js';
import type { EventStream } from './event-stream.js';
import type { Metrics } from './metrics.js';
import { createQueue } from './queue.js';

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
  readonly settingsFile: SettingsFile;
  readonly diagnostics: Diagnostics;
  readonly events: EventStream;
  readonly metrics: Metrics;
  readonly memoryBytes: () => number;
  /** Begins the orderly end; returns at once. */
  readonly stop: (reason: string) => void;
}

export type Workspace = ReturnType<typeof createWorkspace>;

/** The product of one project root: its verbs, over ports. */
export function createWorkspace(deps: WorkspaceDeps) {
  const { identity, clock, settingsFile, events } = deps;
  const startedAt = clock.monotonic();
  const queue = createQueue();
  let settings = readSettings(settingsFile.read());

  const uptime = (): number => Math.round(clock.monotonic() - startedAt);

  function adopt(next: typeof settings): Config {
    const keys = changedKeys(settings.config, next.config);
    settings = next;
    if (keys.length > 0) events.publish({ type: 'config_changed', keys });
    return next.config;
  }

  return {
    events,

    status: () => ({
      ...identity,
      uptime_ms: uptime(),
      current_dialog_id: null,
      edits_open: 0,
      ledger: { events: 0, bytes: 0 },
      store: { bytes: 0, objects: 0, packs: 0, limit_bytes: settings.config.store.limitBytes },
      memory_bytes: deps.memoryBytes(),
      warnings: settings.problems.map((problem) => `config.json: ${describeProblems([problem])}`),
    }),

    config: (): Config => settings.config,

    updateConfig: (patch: RawSettings): Promise<Config> =>
      queue.run(() => {
        const next = updateSettings(settings.raw, patch);
        // Durable first: an answer must not name a setting that a crash takes back.
        settingsFile.write(next.raw);
        return adopt(next);
      }),

    /** Somebody edited the file by hand. */
    reloadConfig: (): Promise<Config> => queue.run(() => adopt(readSettings(settingsFile.read()))),

    metricsText: (): string =>
      deps.metrics.render({
        smithyd_uptime_seconds: uptime() / 1000,
        smithyd_memory_bytes: deps.memoryBytes(),
      }),

    async doctor(repair: boolean): Promise<{ ok: boolean; checks: Check[] }> {
      const checks = [...(await deps.diagnostics.run(repair)), configCheck()];
      return { ok: checks.every((check) => check.ok), checks };
    },

    shutdown: (): void => deps.stop('asked by a client'),
  };

  function configCheck(): Check {
    const { problems } = settings;
    const detail =
      problems.length === 0 ? 'every setting is understood' : describeProblems(problems);
    return { name: 'configuration', ok: problems.length === 0, detail };
  }
}

function changedKeys(before: Config, after: Config): string[] {
  return Object.entries(after)
    .filter(([key, value]) => {
      return JSON.stringify(value) !== JSON.stringify(before[key as keyof Config]);
    })
    .map(([key]) => key);
}

/** For verbs that a stopping daemon no longer starts. */
export function shuttingDown(): SmithyError {
  return new SmithyError('SHUTTING_DOWN', 'The daemon is stopping.', {
    hint: 'Call again in a moment; a new daemon starts on demand.',
    data: { retry_after_ms: 500 },
  });
}
