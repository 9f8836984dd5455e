import type { z } from 'zod';
import type { AnyMethod } from './method.js';
import * as bookmarks from './methods/bookmarks.js';
import * as changes from './methods/changes.js';
import * as dialogs from './methods/dialogs.js';
import * as sessions from './methods/sessions.js';
import * as diff from './methods/diff.js';
import * as daemon from './methods/daemon.js';
import * as edits from './methods/edits.js';
import * as files from './methods/files.js';
import * as known from './methods/known-history.js';
import * as ledger from './methods/ledger.js';
import * as marks from './methods/marks.js';
import * as retention from './methods/retention.js';
import * as snapshots from './methods/snapshots.js';
import * as telemetry from './methods/telemetry.js';
import * as unknown from './methods/unknown.js';

/** Every method there is. Adding one is a row in `methods/` and a word here. */
const ROWS = [
  daemon.status,
  files.knownFiles,
  files.rescan,
  files.gitOperation,
  dialogs.createDialog,
  dialogs.listDialogs,
  dialogs.useDialog,
  dialogs.deleteDialog,
  dialogs.userMessage,
  dialogs.createCheckpoint,
  dialogs.listCheckpoints,
  sessions.getSession,
  sessions.listSessions,
  sessions.approve,
  sessions.reset,
  diff.diff,
  sessions.restore,
  sessions.undo,
  sessions.redo,
  edits.startEdit,
  edits.finalizeEdit,
  edits.abortEdit,
  edits.listEdits,
  edits.blame,
  unknown.detectUnknown,
  unknown.validateFiles,
  unknown.handleUnknown,
  unknown.resetKnownState,
  known.createFileCheckpoint,
  known.loadFileCheckpoint,
  known.cleanupCheckpoints,
  known.milestoneAdd,
  known.milestoneList,
  known.milestoneShow,
  ledger.history,
  ledger.show,
  bookmarks.bookmarkAdd,
  bookmarks.bookmarkRemove,
  bookmarks.bookmarkList,
  bookmarks.rewind,
  bookmarks.note,
  bookmarks.recordEval,
  snapshots.snapshotSave,
  snapshots.snapshotList,
  snapshots.snapshotShow,
  snapshots.snapshotExport,
  snapshots.snapshotImport,
  changes.getChangesSince,
  marks.mark,
  marks.listMarks,
  marks.deleteMark,
  changes.getSessionHealth,
  telemetry.pushTelemetry,
  telemetry.configureNoise,
  telemetry.saveBaseline,
  telemetry.compareBaseline,
  telemetry.listBaselines,
  telemetry.deleteBaseline,
  retention.gc,
  daemon.getConfig,
  daemon.updateConfig,
  daemon.getMetrics,
  daemon.subscribe,
  daemon.viewerUrl,
  daemon.openMcp,
  daemon.doctor,
  daemon.verify,
  daemon.shutdown,
] as const;

export const METHODS: readonly AnyMethod[] = ROWS;

type Row = (typeof ROWS)[number];
export type MethodName = Row['name'];
type RowOf<Name extends MethodName> = Extract<Row, { readonly name: Name }>;

/** What a caller sends to a method and gets from it. */
export type Params<Name extends MethodName> = z.input<RowOf<Name>['input']>;
export type Answer<Name extends MethodName> = z.output<RowOf<Name>['output']>;
