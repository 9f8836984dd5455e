import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { HostFacts } from './config.js';
import { SmithyError } from './core/errors.js';
import type { Ledger } from './core/ledger.js';
import type { DialogId, EditId, Hash, Path } from './core/model.js';
import { literalPattern } from './core/path-match.js';
import type { Log } from './core/ports.js';
import { ulid } from './core/ulid.js';
import { createArchives } from './archive/archives.js';
import { sha256 } from './archive/digest.js';
import { createTextDiff } from './diff/text-diff.js';
import { hashBytes } from './files/look.js';
import { createTreeWriter } from './files/tree-writer.js';
import { createStore } from './git/store.js';
import { systemClock } from './host/clock.js';
import { findGit } from './host/git-program.js';
import { machineFacts } from './host/machine.js';
import { createCheckedFiles } from './host/checked-files.js';
import { openJsonFile, openSummedFile } from './host/json-file.js';
import { whyBindingDamaged } from './host/root-binding.js';
import type { StatePaths } from './host/state-folder.js';
import { createJournal } from './journal/journal.js';
import { createDerivedFiles } from './ledger/derived-files.js';
import { createLedger } from './ledger/ledger.js';
import { createBlockFiles } from './ledger/block-files.js';
import { createPatchFiles } from './ledger/patch-files.js';
import { createSemantics } from './semantics/semantics.js';
import { finding, safely } from './telemetry/safe-patterns.js';
import { whyKnownDamaged } from './watch/known/known-file.js';
import { loadRules } from './watch/rules/rule-set.js';
import { findRepository } from './watch/rules/rule-sources.js';
import { createWatcher } from './watch/watcher.js';
import { copiedBlobs } from './workspace/file-checkpoints.js';
import { createPins, type Holding } from './workspace/pins.js';
import { createRedaction } from './workspace/redaction.js';
import type { LiveSettings } from './workspace/settings.js';

/** What the parts of a daemon are made from. */
export interface Materials {
  readonly root: string;
  readonly paths: StatePaths;
  readonly log: Log;
  readonly host: HostFacts;
  readonly settings: LiveSettings;
  /** The user's mask for new files. */
  readonly umask: number | undefined;
}

/** The watcher, with rules read from this machine and from the present settings. */
export function composeWatcher({ root, paths, log, host, settings }: Materials) {
  const gitPath = findGit(host.environment);
  const git = gitPath === undefined ? {} : { git: { path: gitPath, env: host.environment } };
  const xdg = host.xdgConfigHome === undefined ? {} : { xdgConfigHome: host.xdgConfigHome };
  let warnings: readonly string[] = [];
  const forced = openSummedFile(join(paths.state, 'edited.json'));
  const edited = new Set(readPaths(forced.read()));
  const watcher = createWatcher({
    root,
    stateDir: paths.state,
    config: settings.config(),
    clock: systemClock,
    log,
    rules: async () => {
      const sources = { root, home: host.home, ...xdg, ...git };
      const rules = await loadRules(sources, settings.config(), [...edited].map(literalPattern));
      warnings = rules.warnings;
      return rules;
    },
  });
  return {
    watcher,
    ruleWarnings: () => warnings,
    /** What an agent has edited is tracked from then on; the list outlives the daemon. */
    track: async (more: readonly Path[]): Promise<void> => {
      for (const path of more) edited.add(path);
      forced.write([...edited]);
      await watcher.reconfigure(settings.config());
    },
  };
}

function readPaths(content: unknown): Path[] {
  if (!Array.isArray(content)) return [];
  return content.filter((path): path is Path => typeof path === 'string');
}

/** Needs no settings: whoever tells of them may already count on it. */
export function composeLedger(paths: StatePaths): Ledger {
  return createLedger({ folder: join(paths.state, 'ledger') });
}

/** What keeps secrets from the disk, by the present settings. */
export function composeRedaction(settings: LiveSettings) {
  return createRedaction({ settings, finding });
}

/** Where content is kept, and what is made from the ledger. */
export function composeStorage(materials: Materials, ledger: Ledger) {
  const { root, paths, log, host, settings, umask } = materials;
  const git = findGit(host.environment);
  if (git === undefined) throw gitMissing();
  const fileCheckpoints = openSummedFile(join(paths.state, 'file-checkpoints.json'));
  const edited = openSummedFile(join(paths.state, 'edited.json'));
  // Until the ledger is read, every line holds what it speaks of.
  let holding: Holding = { folded: () => [], expected: () => [], isUnsettled: () => true };
  const store = createStore({
    pins: ({ names, runs }) => {
      const { folded, ...rest } = holding;
      const named = createPins(ledger, { folded: () => [...folded(), ...runs], ...rest });
      return async () => {
        // Not known, and so not to be pruned around: what a refused line speaks of.
        ledger.requireSound();
        return [...(await named()), ...copiedBlobs(fileCheckpoints, names)];
      };
    },
    state: paths.state,
    git,
    environment: host.environment,
    limitBytes: () => settings.config().store.limitBytes,
  });
  const semantics = createSemantics({ log });
  const { edition } = semantics;
  let journalDue: (dialog: DialogId) => void = () => undefined;
  const journal = createJournal({
    stateDir: paths.state,
    log,
    needsRebuild: (dialog) => journalDue(dialog as DialogId),
  });
  return {
    store,
    holdBy: (given: Holding) => void (holding = given),
    onJournalDue: (listener: (dialog: DialogId) => void) => void (journalDue = listener),
    journal,
    files: createTreeWriter({ root, umask }),
    patches: createPatchFiles(paths.state),
    semantics,
    blockFiles: createBlockFiles({ ledger: join(paths.state, 'ledger'), edition }),
    derived: createDerivedFiles(join(paths.state, 'ledger')),
    text: createTextDiff(),
    blobId: hashBytes,
    intent: openJsonFile(join(paths.state, 'intent.json')),
    fileCheckpoints,
    stateFiles: createCheckedFiles({
      'known.bin': () => whyKnownDamaged(join(paths.state, 'known.bin')),
      'root.json': () => whyBindingDamaged(paths, root),
      'edited.json': () => edited.whyDamaged(),
      'file-checkpoints.json': () => fileCheckpoints.whyDamaged(),
    }),
    cursorFile: openJsonFile(join(paths.state, 'cursors.json')),
    safely,
    bookmarkFile: openJsonFile(join(paths.state, 'ledger', 'bookmarks.json')),
    machine: machineFacts(),
    sha256,
    archives: createArchives(paths.state),
    index: openJsonFile(join(paths.state, 'dialogs', 'index.json')),
    oldIndex: openJsonFile(join(paths.state, 'old-dialogs', 'index.json')),
    metadata: (dialog: DialogId) =>
      openJsonFile(join(paths.state, 'dialogs', dialog, 'checkpoints', 'metadata.json')),
    newDialogId: () => ulid(systemClock.now(), randomBytes) as DialogId,
    newEditId: () => ulid(systemClock.now(), randomBytes) as EditId,
    seed: async (hashes: readonly Hash[]): Promise<ReadonlySet<Hash>> => {
      const repository = hashes.length === 0 ? undefined : findRepository(root);
      if (repository === undefined) return new Set();
      return store.seedFrom(repository.commonDir, hashes).catch((error: unknown) => {
        if (!(error instanceof SmithyError) || !NOT_OURS.has(error.code)) throw error;
        // Damage over there is not ours: the files themselves are here to be read.
        log.write('warn', 'no contents were taken from the repository', { error: error.message });
        return new Set();
      });
    },
  };
}

const NOT_OURS: ReadonlySet<string> = new Set(['STORAGE_IO', 'STORE_CORRUPT']);

function gitMissing(): SmithyError {
  return new SmithyError('STORAGE_IO', 'git was not found, and checkpoints need it.', {
    hint: 'Install git 2.36 or newer and start again.',
    data: { op: 'find git' },
  });
}
