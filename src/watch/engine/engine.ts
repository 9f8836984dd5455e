/** Errors that say: no more watches or handles to be had. */
export const LIMITS: ReadonlySet<string> = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM']);

export interface EngineEvents {
  /** Something about entry `name` of `folder` may have changed; undefined: about any entry. */
  hint(folder: string, name: string | undefined): void;
  /** The folder itself was moved or removed: its watch is of no use any more. */
  lost(folder: string): void;
  /** The folder had so many events without a pause that its watch was taken off for a while. */
  flooded(folder: string): void;
  /** Events may have been dropped. */
  overflow(): void;
  /** The folder's watch is gone; undefined: some watch somewhere is. */
  failed(folder: string | undefined, error: unknown): void;
}

export type WatchResult = 'watching' | 'gone' | 'limit' | 'failed';

/** A source of hints. Whatever it says is only a reason to look; what it does not say, scans find. */
export interface Engine {
  readonly name: 'directories' | 'chokidar';
  /**
   * True when events arrive in the order of the changes, over all folders: then a cookie's event
   * proves that all earlier ones have arrived.
   */
  readonly ordered: boolean;
  /** Resolves when changes from now on lead to hints. */
  open(events: EngineEvents): Promise<void>;
  /** From the moment this returns `watching`, changes of the folder's entries lead to hints. */
  watch(folder: string): WatchResult;
  unwatch(folder: string): void;
  /** The rules let in other folders than before. */
  rulesChanged(): void;
  close(): Promise<void>;
}
