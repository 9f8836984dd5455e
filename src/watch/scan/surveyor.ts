import type { Log } from '../../core/ports.js';
import type { RuleSet } from '../../core/tracking.js';
import type { ChangeBatch, ChangeOrigin } from '../../core/watching.js';
import { codeOf } from '../content/content.js';
import { type Engine, type EngineEvents, LIMITS } from '../engine/engine.js';
import { Hasher } from '../content/hasher.js';
import { type Glance, Inspector } from './inspector.js';
import { Keeper } from '../known/keeper.js';
import { Mounts } from './mounts.js';
import { Publisher } from '../known/publisher.js';
import { Pump } from './pump.js';
import { Rulebook } from '../rules/rulebook.js';
import { type Folder, KnownTree } from '../known/tree.js';
import { Visit } from './visit.js';
import { Watches } from '../engine/watches.js';

export interface SurveyorDeps {
  readonly root: string;
  readonly log: Log;
  readonly engine: () => Engine;
  readonly maxBytes: () => number;
  readonly loadRules: () => Promise<RuleSet>;
  /** Also reports a lost root; asked before anything is taken for deleted. */
  readonly rootIsHere: () => boolean;
  readonly isGitRunning: () => boolean;
  readonly isGitStillRunning: () => boolean;
  /** `.git` of the root came, went or was replaced. */
  readonly gitFolderTouched: () => void;
  readonly publish: (batch: ChangeBatch) => void;
  readonly overflow: () => void;
  /** Something could not be opened because too much is open. */
  readonly exhausted: () => void;
  /** Some of the tree lies where no events come from. */
  readonly silent: () => void;
  /** A folder lost or gained its watch. */
  readonly coverageChanged: (why: 'limit' | 'failed' | undefined) => void;
}

// Enough to keep every reader busy; more would only hold memory.
const MAX_BACKLOG = 8_192;
const RETRY_MS = 250;
// About 10 ms of asking at each barrier; the other names of more files are left to scans.
const MAX_LINKED = 2_000;

/** Everything between a hint and knowledge: put together here, and driven from outside. */
export class Surveyor {
  readonly #deps: SurveyorDeps;
  readonly tree = new KnownTree();
  readonly rulebook: Rulebook;
  readonly watches: Watches;
  readonly publisher: Publisher;
  readonly #keeper: Keeper;
  readonly #inspector: Inspector;
  readonly #hasher: Hasher;
  readonly #pump: Pump;
  readonly #visits = new Set<Visit>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #live = new Visit(this.#visits, 'live');
  #git = new Visit(this.#visits, 'git');
  #stopped = false;

  constructor(deps: SurveyorDeps) {
    this.#deps = deps;
    const { tree } = this;
    const absolute = (relative: string): string =>
      relative === '' ? deps.root : `${deps.root}/${relative}`;
    this.rulebook = new Rulebook({
      absolute,
      tree,
      load: deps.loadRules,
      exhausted: deps.exhausted,
    });
    this.publisher = new Publisher({ holdBack: deps.isGitStillRunning, publish: deps.publish });
    this.watches = new Watches({
      engine: deps.engine,
      superseded: (folder) => this.#lookAgain(folder),
      coverageChanged: deps.coverageChanged,
    });
    this.#keeper = new Keeper({
      tree,
      noted: (step) => this.publisher.note(step),
      untracked: (path, last) => this.publisher.noteUntracked(path, last),
      rootIsHere: deps.rootIsHere,
      unwatch: (folder) => this.watches.drop(folder),
      hasLeft: () => this.#pump.schedule(),
    });
    const enter = (folder: Folder, glance: Glance): void => this.#pump.enter(folder, glance);
    this.#inspector = new Inspector({
      absolute,
      tree,
      keeper: this.#keeper,
      maxBytes: deps.maxBytes,
      hasher: () => this.#hasher,
      enter,
      special: (folder, name, glance) => this.#special(folder, name, glance),
      exhausted: deps.exhausted,
      later: (folder, name) => this.#later(folder.path, name),
    });
    this.#hasher = new Hasher({
      absolute,
      maxBytes: deps.maxBytes,
      done: (job, reading) => this.#inspector.take(job, reading),
      caughtUp: () => this.#pump.schedule(),
      log: deps.log,
    });
    const pass = {
      absolute,
      tree,
      watches: this.watches,
      mounts: new Mounts(deps.silent),
      rulebook: this.rulebook,
      keeper: this.#keeper,
      inspector: this.#inspector,
      enter,
      rootIsHere: deps.rootIsHere,
      exhausted: deps.exhausted,
    };
    this.#pump = new Pump({
      tree,
      inspector: () => this.#inspector,
      pass: () => pass,
      tellOfLeft: (due) => this.#keeper.tellOfLeft(due),
      isReadingBehind: () => this.#hasher.backlog > MAX_BACKLOG,
    });
  }

  /** Where an engine reports to. */
  readonly events: EngineEvents = {
    hint: (folder, name) => this.hint(folder, name),
    lost: (path) => {
      const folder = this.tree.folders.get(path);
      if (folder === undefined) return;
      this.watches.drop(folder);
      this.#lookAgain(folder);
    },
    flooded: (path) => {
      const folder = this.tree.folders.get(path);
      if (folder === undefined) return;
      this.watches.suspend(folder);
      this.#later(path, undefined);
    },
    overflow: () => this.#deps.overflow(),
    failed: (path, error) => {
      this.#deps.log.write('warn', 'A watch failed.', { path, error: String(error) });
      if (path === undefined)
        this.#deps.coverageChanged(LIMITS.has(codeOf(error)) ? 'limit' : 'failed');
      else this.events.lost(path);
    },
  };

  hint(folder: string, name: string | undefined): void {
    if (this.#stopped) return;
    this.#pump.hint(folder, name, this.#deps.isGitRunning() ? this.#git : this.#live);
  }

  /** Resolves when everything hinted at before the call is known. */
  async caughtUp(): Promise<void> {
    await this.#rest();
    if (this.tree.findOtherNames()) await this.#rest();
  }

  async #rest(): Promise<void> {
    if (this.tree.linked.size <= MAX_LINKED) {
      for (const { folder, name } of this.tree.linked.values()) this.hint(folder.path, name);
    }
    this.#lookAtNested(this.#live);
    const open = [...this.#visits];
    this.#live = new Visit(this.#visits, 'live');
    this.#git = new Visit(this.#visits, 'git');
    await Promise.all(open.map((visit) => visit.over()));
  }

  /** They stop being projects of their own without an event: nobody watches what is in them. */
  #lookAtNested(visit: Visit): void {
    if (this.#stopped) return;
    for (const path of this.tree.nestedRoots) {
      const slash = path.lastIndexOf('/');
      this.#pump.hint(slash < 0 ? '' : path.slice(0, slash), path.slice(slash + 1), visit);
    }
  }

  /** Compares the whole tree with the disk; `force` decides every entry anew. */
  async survey(origin: ChangeOrigin | undefined, force: boolean): Promise<void> {
    const visit = new Visit(this.#visits, origin);
    visit.begin();
    this.#lookAtNested(visit);
    this.#pump.enter(this.tree.root, { visit, bulk: true, force, deep: true });
    visit.end();
    await visit.over();
  }

  /** The same for folders without a watch only: those that had none, and those that have none now. */
  async surveyUnwatched(before: readonly Folder[]): Promise<void> {
    const folders = new Set([...before, ...this.watches.unwatched]);
    if (folders.size === 0) return;
    const visit = new Visit(this.#visits, 'scan');
    for (const folder of folders) {
      this.#pump.enter(folder, { visit, bulk: true, force: false, deep: false });
    }
    await visit.over();
  }

  /** Reads the rules again; when they differ, everything is decided anew. */
  async reloadRules(force = false): Promise<void> {
    const differ = await this.rulebook.reload();
    if (this.#stopped || !(differ || force)) return;
    this.#deps.engine().rulesChanged();
    await this.survey('rules', true);
  }

  /** Everything the tree says by now, at once. */
  publish(): void {
    this.#keeper.tellOfLeft(() => false);
    this.publisher.flush();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#pump.stop();
    this.publisher.close();
    for (const timer of this.#retries.values()) clearTimeout(timer);
    await this.#hasher.close();
  }

  #lookAgain(folder: Folder): void {
    folder.stamp = undefined;
    if (folder.parent === undefined) {
      if (this.#deps.rootIsHere()) this.hint('', undefined);
    } else {
      this.hint(folder.parent.path, folder.name);
    }
  }

  #special(folder: Folder, name: string, glance: Glance): void {
    if (name === '.gitignore') this.#ignoreFileTouched(folder, glance);
    else if (folder.parent === undefined) {
      if (name === '.git') this.#deps.gitFolderTouched();
    } else {
      folder.stamp = undefined;
      this.#pump.enter(folder, glance);
    }
  }

  #ignoreFileTouched(folder: Folder, glance: Glance): void {
    if (folder.parent === undefined) {
      // A pass over the root comes by here too; only an event is a reason to read again.
      if (glance.bulk) return;
      glance.visit.begin();
      void this.reloadRules()
        .catch((error: unknown) => {
          this.#deps.log.write('error', 'The tracking rules could not be read.', {
            error: String(error),
          });
        })
        .finally(() => glance.visit.end());
      return;
    }
    if (this.rulebook.refresh(folder, true) !== 'changed') return;
    this.#pump.enter(folder, { ...glance, force: true, deep: true });
  }

  #later(folder: string, name: string | undefined): void {
    const key = `${folder}/${name ?? ''}`;
    if (this.#retries.has(key) || this.#stopped) return;
    const timer = setTimeout(() => {
      this.#retries.delete(key);
      this.hint(folder, name);
    }, RETRY_MS);
    this.#retries.set(key, timer.unref());
  }
}
