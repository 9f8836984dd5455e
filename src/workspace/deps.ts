import type { Matching } from '../core/changes/noise.js';
import type { BlockFiles } from '../core/event-blocks.js';
import type { DerivedFiles } from '../core/derived.js';
import type { Archives } from '../core/archive.js';
import type { Journal } from '../core/journal.js';
import type { Ledger, PatchFiles } from '../core/ledger.js';
import type { DialogId, EditId, Hash, Path } from '../core/model.js';
import type { CheckedFiles, Clock, Diagnostics, Log, SmallFile, WebDoor } from '../core/ports.js';
import type { Semantics } from '../core/semantics.js';
import type { CheckpointStore, Content } from '../core/store.js';
import type { TextDiff } from '../core/text-diff.js';
import type { TreeWriter } from '../core/tree-writer.js';
import type { Watcher } from '../core/watching.js';
import type { EventStream } from './event-stream.js';
import type { Metrics } from './metrics.js';
import type { Holding } from './pins.js';
import type { Redaction } from './redaction.js';
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
  /** Hex digits that tell this run apart from the one before it. */
  readonly run: string;
  readonly clock: Clock;
  readonly settings: LiveSettings;
  readonly watcher: Watcher;
  readonly diagnostics: Diagnostics;
  readonly events: EventStream;
  readonly metrics: Metrics;
  readonly memoryBytes: () => number;
  /** What the tracking rules could not take in, one sentence each. */
  readonly ruleWarnings: () => readonly string[];
  readonly web: WebDoor;
  readonly ledger: Ledger;
  readonly patches: PatchFiles;
  readonly blockFiles: BlockFiles;
  readonly semantics: Semantics;
  /** Where what is made from the ledger's lines is put aside. */
  readonly derived: DerivedFiles;
  readonly store: CheckpointStore;
  /** What the store holds contents by, beside the lines. */
  readonly holdBy: (holding: Holding) => void;
  readonly journal: Journal;
  /** Runs when a journal is found to be lost or damaged. */
  readonly onJournalDue: (listener: (dialog: DialogId) => void) => void;
  readonly files: TreeWriter;
  readonly text: TextDiff;
  /** Between somebody's words and the disk. */
  readonly redaction: Redaction;
  readonly log: Log;
  /** What is being done to the tree, and the index of dialogs. */
  readonly intent: SmallFile;
  readonly index: SmallFile;
  readonly fileCheckpoints: SmallFile;
  /** What only its own sum tells of. */
  readonly stateFiles: CheckedFiles;
  /** Where clients looked last. */
  readonly cursorFile: SmallFile;
  /** For patterns that come with the project. */
  readonly safely: Matching;
  /** `ledger/bookmarks.json`. */
  readonly bookmarkFile: SmallFile;
  /** What is known of the machine, for manifests. */
  readonly machine: Readonly<Record<string, string>>;
  readonly archives: Archives;
  readonly sha256: (content: Content) => Promise<string>;
  /** The index as an older program left it. */
  readonly oldIndex: SmallFile;
  readonly metadata: (dialog: DialogId) => SmallFile;
  readonly seed: (hashes: readonly Hash[]) => Promise<ReadonlySet<Hash>>;
  readonly newDialogId: () => DialogId;
  readonly newEditId: () => EditId;
  readonly blobId: (content: Uint8Array) => Hash;
  /** Tracks these from now on, whatever the rules say. */
  readonly track: (paths: readonly Path[]) => Promise<void>;
  /** Begins the orderly end; returns at once. */
  readonly stop: (reason: string) => void;
}
