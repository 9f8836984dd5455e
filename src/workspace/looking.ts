import type { Matching } from '../core/changes/noise.js';
import type { LedgerEntry } from '../core/ledger.js';
import type { SmallFile } from '../core/ports.js';
import { Baselines, type BaselineBook } from './baselines.js';
import type { BookmarkBook } from './bookmark-book.js';
import { ChangeBases, type ChangeBaseDeps } from './change-bases.js';
import { Changes } from './changes.js';
import { ClientCursors } from './client-cursors.js';
import type { EditDeps } from './edit-deps.js';
import { FilesSince, type FilesSinceDeps } from './files-since.js';
import type { FileTrail } from './file-trail.js';
import { LineCounts } from './line-counts.js';
import type { MarkBook } from './mark-book.js';
import { Marks, type MarkDeps } from './marks.js';
import { NoiseRules } from './noise-rules.js';
import type { Redaction } from './redaction.js';
import type { LiveSettings } from './settings.js';
import { Telemetry } from './telemetry.js';

type Given = EditDeps &
  Pick<FilesSinceDeps, 'ledger'> &
  Pick<ChangeBaseDeps, 'run' | 'chronicle' | 'timeline'> &
  Pick<MarkDeps, 'checkpoints' | 'dialogs'> & {
    readonly version: string;
    readonly redaction: Redaction;
    readonly settings: LiveSettings;
    readonly safely: Matching;
    readonly cursorFile: SmallFile;
    readonly bookmarks: MarkDeps['bookmarks'];
    readonly books: {
      readonly bookmarks: BookmarkBook;
      readonly marks: MarkBook;
      readonly baselines: BaselineBook;
    };
    readonly trail: FileTrail;
  };

/** Everything about what happened since somebody looked, put together. */
export function createLooking({ books, ...deps }: Given) {
  const { trail, watcher, clock } = deps;
  const telemetry = new Telemetry((text) => deps.redaction.clean(text).text);
  const noise = new NoiseRules({ ...deps, telemetry });
  const clients = new ClientCursors(deps);
  const lineCounts = new LineCounts(deps);
  const bases = new ChangeBases({ ...deps, ...books, telemetry });
  const filesSince = new FilesSince(deps);
  const changes = new Changes({ ...deps, bases, clients, filesSince, lineCounts, telemetry });
  const marks = new Marks({
    ...deps,
    ...{ bases, changes, telemetry, marks: books.marks },
    ...{ bookmarkBook: books.bookmarks, baselineBook: books.baselines },
  });
  const baselines = new Baselines({ ...deps, telemetry, book: books.baselines });
  watcher.onChange((batch) => trail.notice(batch, clock.now()));

  return {
    ...{ changes, marks, baselines, noise, telemetry },
    /** A new line of the ledger. */
    recorded: (entry: LedgerEntry): void => {
      trail.record(entry);
      lineCounts.learn(entry);
    },
    close: (): void => clients.save(),
  };
}
