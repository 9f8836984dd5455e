import { counted } from '../core/counted.js';
import { SmithyError } from '../core/errors.js';
import { toPath } from '../core/paths.js';
import type { Check } from '../core/ports.js';
import { fullness } from '../core/retention.js';
import { describeProblems } from '../core/schema-problems.js';
import type { WorkspaceDeps } from './deps.js';
import { createHistory } from './history.js';
import { publishChanges } from './intake.js';
import type { Gauge } from './metrics.js';
import { knownFiles, type KnownFilesPage, type KnownFilesQuery } from './known-files.js';

export type Workspace = ReturnType<typeof createWorkspace>;

/** What a git hook knows of the operation that called it. */
interface GitOperationNote {
  readonly what: 'checkout' | 'merge' | 'amend' | 'rebase';
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Lists in `status` are for a glance. */
const MOST_LISTED = 100;

/** The product of one project root: its verbs, over ports. */
export function createWorkspace(deps: WorkspaceDeps) {
  const { identity, clock, settings, watcher, events } = deps;
  const startedAt = clock.monotonic();
  const { ledger, store } = deps.redaction.over(deps);
  const history = createHistory({ ...deps, ledger, store });
  publishChanges(watcher, events, { claims: history.claims, config: () => settings.config() });
  watcher.onNotice((notice) => {
    if (notice.type === 'watch_desynced') deps.metrics.desynced(notice.reason);
  });
  settings.onChange((config) => watcher.reconfigure(config));

  const uptime = (): number => Math.round(clock.monotonic() - startedAt);

  // Asked more often than anything else, so without copies: a spread of these objects cost 10 µs.
  function status() {
    const health = watcher.health();
    const { engine, state, fresh, files, dirs, skipped, reason, remedy } = health;
    const { bytes, objects, packs } = deps.store.sizes();
    return {
      version: identity.version,
      protocol: identity.protocol,
      pid: identity.pid,
      root: identity.root,
      uptime_ms: uptime(),
      current_dialog_id: history.book.current,
      watcher: {
        engine,
        state,
        fresh,
        files,
        dirs,
        skipped,
        reason,
        remedy,
        nested_repositories: health.nestedRepositories.slice(0, MOST_LISTED),
        nested_roots: health.nestedRoots.slice(0, MOST_LISTED),
      },
      edits_open: history.edits.open,
      ledger: deps.ledger.stats(),
      store: { bytes, objects, packs, limit_bytes: settings.config().store.limitBytes },
      memory_bytes: deps.memoryBytes(),
      warnings: warnings(),
    };
  }

  function warnings(): string[] {
    const problems = settings.problems();
    const full = fullness(deps.store.sizes().bytes, settings.config().store.limitBytes);
    const others = [
      ...(full === undefined ? [] : [full]),
      ...deps.ruleWarnings(),
      ...deps.web.warnings(),
      ...history.recovered,
      ...history.warnings(),
      ...deps.redaction.warnings(),
      ...grammarWarnings(),
    ];
    if (problems.length + others.length === 0) return [];
    return [...problems.map((problem) => `config.json: ${describeProblems([problem])}`), ...others];
  }

  return {
    ...history,
    events,
    settings,
    status,
    /** Wall time in ms. */
    now: () => clock.now(),

    async statusWithReason(path: string) {
      const explained = await watcher.explain(toPath(path, identity.root));
      const { decision, at, sentence } = explained;
      const { tracked, reason, rule } = decision;
      const why = { path: explained.path, tracked, reason, at, sentence };
      return { ...status(), why: rule === undefined ? why : { ...why, rule } };
    },

    knownFiles: (query: KnownFilesQuery): Promise<KnownFilesPage> =>
      knownFiles(watcher, identity.root, query),

    /** Told before the changes it made: they are its. */
    gitOperation(operation: GitOperationNote): Promise<{ fresh: boolean }> {
      events.publish({ type: 'git_operation', ...operation });
      return watcher.gitOperation();
    },

    async rescan(): Promise<{ fresh: boolean; files: number; duration_ms: number }> {
      const begun = clock.monotonic();
      await watcher.rescan();
      const { fresh, files } = watcher.health();
      return { fresh, files, duration_ms: Math.round(clock.monotonic() - begun) };
    },

    metricsText: (): string => deps.metrics.render(gauges()),

    async doctor(repair: boolean): Promise<{ ok: boolean; checks: Check[] }> {
      const machine = [
        ...(await deps.diagnostics.run(repair)),
        configCheck(),
        watchCheck(),
        grammarCheck(),
      ];
      const checks = [...machine, ...(await history.examination.run(repair))];
      return { ok: checks.every((check) => check.ok), checks };
    },

    verify: () => history.verification.run(),

    viewerUrl: () => deps.web.invite(),

    shutdown: (): void => deps.stop('asked by a client'),
  };

  function gauges(): Gauge[] {
    const { files, fresh } = watcher.health();
    const { events: lines, bytes } = deps.ledger.stats();
    const sizes = deps.store.sizes();
    const one = (name: string, help: string, value: number): Gauge => ({ name, help, value });
    return [
      one('smithyd_uptime_seconds', 'Since the daemon started.', uptime() / 1000),
      one('smithyd_memory_bytes', 'Memory in use.', deps.memoryBytes()),
      one('smithyd_known_files', 'Files whose content is known.', files),
      one('smithyd_fresh', '0 while changes may have been missed.', fresh ? 1 : 0),
      one('smithyd_edits_open', 'Edits without an end.', history.edits.open),
      one('smithyd_ledger_events', 'Lines of the ledger.', lines),
      one('smithyd_ledger_bytes', 'Size of the ledger.', bytes),
      one('smithyd_store_bytes', 'Size of the objects.', sizes.bytes),
      one(
        'events_since_last_snapshot',
        'Lines of the ledger after the newest snapshot, or all.',
        history.eventsSinceSnapshot(),
      ),
    ];
  }

  function configCheck(): Check {
    const problems = settings.problems();
    const ok = problems.length === 0;
    const detail = ok
      ? 'every setting is understood'
      : `${describeProblems(problems)}. Mend .agentsmithy/config.json or move it away`;
    return { name: 'configuration', ok, detail };
  }

  /** Nothing is lost without them, so the daemon is well; but somebody may wonder. */
  function grammarWarnings(): string[] {
    return deps.semantics.missing.map(
      (name) => `${name} is not installed: changes in its language are told by their lines.`,
    );
  }

  function grammarCheck(): Check {
    const warnings = grammarWarnings();
    const detail = warnings.length === 0 ? 'every language has its own' : warnings.join(' ');
    return { name: 'grammars', ok: true, detail };
  }

  function watchCheck(): Check {
    const { state, fresh, files, reason, remedy } = watcher.health();
    const trouble = [reason, remedy].filter((text) => text !== undefined).join(': ');
    const detail = trouble === '' ? `${state}, ${counted(files, 'file')} known` : trouble;
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
