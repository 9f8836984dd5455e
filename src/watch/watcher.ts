import { once } from 'node:events';
import type { Hash, Path } from '../core/model.js';
import { SmithyError } from '../core/errors.js';
import type { Explanation, OuterRules } from '../core/tracking.js';
import type {
  ChangeBatch,
  DoubtReason,
  KnownEntry,
  SkippedEntry,
  WatchConfig,
  Watcher,
  WatchHealth,
  WatchNotice,
} from '../core/watching.js';
import { Barrier } from './engine/barrier.js';
import { Doubts } from './doubt.js';
import type { Engine } from './engine/engine.js';
import { makeEngine } from './engine/engines.js';
import { GitActivity } from './engine/git-activity.js';
import { grouped } from './grouped.js';
import { healthOf } from './health.js';
import { KnownFile } from './known/known-file.js';
import { Listeners } from './listeners.js';
import { entriesAfter } from './known/paging.js';
import { Patience } from './patience.js';
import { ProjectRoot } from './root.js';
import { Surveyor } from './scan/surveyor.js';
import { entryOf } from './known/tree.js';
import { type Timing, TIMING, type WatcherDeps } from './settings.js';
import { Upkeep } from './upkeep.js';

export function createWatcher(deps: WatcherDeps): Watcher {
  return new ProjectWatcher(deps);
}

class ProjectWatcher implements Watcher {
  readonly #deps: WatcherDeps;
  readonly #timing: Timing;
  readonly #root: ProjectRoot;
  readonly #git: GitActivity;
  readonly #barrier: Barrier;
  readonly #surveyor: Surveyor;
  readonly #doubts: Doubts;
  readonly #upkeep: Upkeep;
  readonly #file: KnownFile;
  readonly #changes: Listeners<ChangeBatch>;
  readonly #notices: Listeners<WatchNotice>;
  readonly #patience = new Patience();
  readonly #ended = new AbortController();
  #config: WatchConfig;
  #engine: Engine;
  #started: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #isReady = false;
  /** How often something could not be opened: what was scanned meanwhile was not seen whole. */
  #exhaustions = 0;

  constructor(deps: WatcherDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#timing = { ...TIMING, ...deps.timing };
    this.#changes = new Listeners(deps.log);
    this.#notices = new Listeners(deps.log);
    this.#root = new ProjectRoot({
      path: deps.root,
      notify: (notice) => this.#notices.tell(notice),
      returned: () => this.#suspect('requested'),
    });
    this.#git = new GitActivity(deps.root, () => this.#reloadRules());
    this.#barrier = new Barrier({
      folder: `${deps.stateDir}/run/settle`,
      timeoutMs: this.#timing.cookieMs,
    });
    this.#doubts = new Doubts((notice) => this.#notices.tell(notice));
    this.#surveyor = new Surveyor({
      root: deps.root,
      log: deps.log,
      engine: () => this.#engine,
      maxBytes: () => this.#config.maxFileBytes,
      loadRules: () => deps.rules(this.#config),
      rootIsHere: () => this.#root.isHere(),
      isGitRunning: () => this.#git.running,
      isGitStillRunning: () => this.#git.isStillRunning(),
      gitFolderTouched: () => this.#git.open(),
      publish: (batch) => this.#publish(batch),
      overflow: () => this.#suspect('overflow'),
      exhausted: () => this.#exhausted(),
      silent: () => this.#doubts.setSilent(),
      coverageChanged: (why) => this.#coverageChanged(why),
    });
    this.#file = new KnownFile({
      path: `${deps.stateDir}/known.bin`,
      tree: this.#surveyor.tree,
      log: deps.log,
      saveMs: this.#timing.saveMs,
      binding: () => ({
        device: this.#root.device,
        inode: this.#root.inode,
        fingerprint: this.#surveyor.rulebook.fingerprint,
        maxFileBytes: this.#config.maxFileBytes,
      }),
    });
    this.#upkeep = new Upkeep({
      clock: deps.clock,
      policy: this.#timing.scans,
      isDegraded: () => this.#doubts.isDegraded || !this.#doubts.isClear,
      beat: () => this.#root.check(),
      doubt: (reason) => this.#suspect(reason),
      scan: () => this.#inBackground(this.#scan()),
    });
    this.#engine = this.#makeEngine();
  }

  start(): Promise<void> {
    // What a stop interrupts never ends by itself.
    this.#started ??= Promise.race([
      this.#start(),
      once(this.#ended.signal, 'abort').then(() => undefined),
    ]);
    return this.#started;
  }

  stop(isKept = true): Promise<void> {
    this.#stopping ??= this.#stop(isKept);
    return this.#stopping;
  }

  async settle(): Promise<{ fresh: boolean }> {
    return { fresh: await this.#patience.wait(this.#settled(), this.#timing.patienceMs, false) };
  }

  gitOperation(): Promise<{ fresh: boolean }> {
    return this.#git.during(() => this.settle());
  }

  publish(): void {
    this.#surveyor.publish();
  }

  get(path: Path): KnownEntry | undefined {
    const leaf = this.#surveyor.tree.leaf(path);
    return leaf?.isKnown === true ? entryOf(path, leaf) : undefined;
  }

  entries(): Iterable<KnownEntry> {
    return this.#surveyor.tree.entries();
  }

  entriesAfter(path: string | undefined): Iterable<KnownEntry> {
    return entriesAfter(this.#surveyor.tree, path ?? '');
  }

  readonly emptyFolders = (): Iterable<Path> => this.#surveyor.tree.emptyFolders();

  readonly rules = (): OuterRules | undefined => this.#surveyor.rulebook.outer;

  skipped(limit = 1_000): SkippedEntry[] {
    return this.#surveyor.tree.firstSkipped(limit);
  }

  health(): WatchHealth {
    return healthOf({
      engine: this.#engine.name,
      tree: this.#surveyor.tree,
      doubts: this.#doubts,
      isReady: this.#isReady,
      isLost: this.#root.isLost,
    });
  }

  async explain(path: Path): Promise<Explanation> {
    await this.#started;
    return this.#surveyor.rulebook.explain(path);
  }

  async rescan(): Promise<void> {
    this.#doubts.raise('requested');
    await this.#scan();
  }

  async reconfigure(config: WatchConfig): Promise<void> {
    const before = this.#config;
    this.#config = config;
    await this.#started;
    if (before.watcher !== config.watcher) await this.#changeEngine();
    await this.#surveyor.reloadRules(before.maxFileBytes !== config.maxFileBytes);
  }

  announce(path: Path, hash: Hash | undefined): () => void {
    return this.#surveyor.publisher.announce(path, hash);
  }

  onChange(listener: (batch: ChangeBatch) => void): () => void {
    return this.#changes.add(listener);
  }

  onNotice(listener: (notice: WatchNotice) => void): () => void {
    return this.#notices.add(listener);
  }

  async #start(): Promise<void> {
    const begun = this.#deps.clock.monotonic();
    if (!this.#root.adopt()) {
      throw new SmithyError('STORAGE_IO', `${this.#deps.root} is not a directory.`, {
        hint: 'Start the daemon in an existing project folder.',
        data: { op: 'watch', path: this.#deps.root },
      });
    }
    const { tree, rulebook } = this.#surveyor;
    tree.root.ino = this.#root.inode;
    await rulebook.reload();
    const loaded = await this.#file.load();
    this.#git.open();
    if (this.#engine.ordered) await this.#engine.open(this.#surveyor.events);
    await this.#surveyor.survey(loaded.isKnown ? 'offline' : undefined, loaded.isStale);
    if (!this.#engine.ordered) {
      // This engine walks the tree by the rules found so far, and takes a while to listen.
      await this.#engine.open(this.#surveyor.events);
      await this.#surveyor.survey('scan', false);
    }
    if (this.#ended.signal.aborted) return;
    this.#isReady = true;
    await this.#surveyor.publisher.drain();
    this.#upkeep.start(this.#deps.clock.monotonic() - begun);
    if (!this.#doubts.isClear) void this.#inBackground(this.#scan());
    // Nobody needs to wait for it; and what was just loaded and confirmed need not be written.
    if (!loaded.isKnown || loaded.isStale) void this.#file.save();
  }

  async #stop(isKept: boolean): Promise<void> {
    this.#ended.abort();
    this.#patience.end();
    this.#upkeep.stop();
    await this.#surveyor.stop();
    this.#surveyor.publish();
    this.#barrier.close();
    this.#git.close();
    await this.#engine.close();
    await this.#file.close(isKept && this.#isReady && !this.#root.isLost);
  }

  async #settled(): Promise<boolean> {
    await this.#started;
    if (this.#hasEnded() || !this.#root.check()) return false;
    const canBeTold = this.#engine.ordered && !this.#doubts.isSilent;
    const isTold = canBeTold && (await this.#barrier.reach());
    if (this.#hasEnded()) return false;
    // A folder may get its watch back while we wait, and have nobody who looked into it yet.
    const unwatched = [...this.#surveyor.watches.unwatched];
    if (this.#surveyor.rulebook.outsideChanged()) await this.#surveyor.reloadRules();
    await this.#surveyor.caughtUp();
    if (!isTold && canBeTold) this.#doubts.raise('barrier_timeout');
    // A scan that begins after the call sees all that was before it, whoever asks meanwhile.
    const isScanned = !isTold || !this.#doubts.isClear;
    const isSeen = isScanned && (await this.#scan());
    if (!isScanned) await this.#surveyor.surveyUnwatched(unwatched);
    await this.#surveyor.publisher.drain();
    return this.#root.check() && (isSeen || this.#doubts.isClear);
  }

  /** A whole comparison that begins after the call; callers share. True: it saw everything. */
  readonly #scan = grouped(async () => {
    await this.#started;
    if (this.#ended.signal.aborted || !this.#root.check()) return false;
    const begun = this.#deps.clock.monotonic();
    const { mark } = this.#doubts;
    const exhaustions = this.#exhaustions;
    await this.#surveyor.reloadRules();
    await this.#surveyor.survey('scan', false);
    this.#upkeep.scanned(this.#deps.clock.monotonic() - begun);
    if (this.#exhaustions !== exhaustions) return false;
    this.#doubts.clear(mark);
    return true;
  });

  #suspect(reason: DoubtReason): void {
    this.#deps.log.write('warn', 'Events may be missing; scanning.', { reason });
    this.#doubts.raise(reason);
    if (this.#isReady) void this.#inBackground(this.#scan());
  }

  /** Not scanned at once: it would only run into the same again. Who asks, and time, lead to it. */
  #exhausted(): void {
    const isNews = this.#doubts.isClear;
    this.#exhaustions += 1;
    this.#doubts.raise('files_limit');
    if (isNews) this.#upkeep.rearm();
  }

  #coverageChanged(why: 'limit' | 'failed' | undefined): void {
    const reason = why === undefined ? undefined : (`watch_${why}` as const);
    this.#doubts.setLasting(reason);
    this.#upkeep.rearm();
  }

  #hasEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  #publish(batch: ChangeBatch): void {
    this.#file.changed();
    this.#changes.tell(batch);
  }

  #reloadRules(): void {
    if (this.#isReady) void this.#inBackground(this.#surveyor.reloadRules());
  }

  async #changeEngine(): Promise<void> {
    const before = this.#engine;
    const after = this.#makeEngine();
    if (before.name === after.name) return;
    this.#engine = after;
    await before.close();
    this.#surveyor.watches.reset(this.#surveyor.tree.folders.values());
    await after.open(this.#surveyor.events);
    this.#doubts.setLasting(undefined);
    await this.rescan();
  }

  #makeEngine(): Engine {
    const { root, engine = (made) => made } = this.#deps;
    const { rulebook } = this.#surveyor;
    const isLeftOut = (path: string): boolean => !rulebook.explain(path).decision.enter;
    return engine(makeEngine(root, this.#config.watcher, isLeftOut));
  }

  async #inBackground(work: Promise<unknown>): Promise<void> {
    await work.catch((error: unknown) => {
      this.#deps.log.write('error', 'Watching failed in the background.', {
        error: String(error),
      });
    });
  }
}
