import type { Hash } from '../core/model.js';
import type { Gone } from '../core/store.js';

/** What a store is made from. */
export interface StoreOptions {
  /** The project's `.agentsmithy`. */
  readonly state: string;
  /** Absolute path of git, and the allow-listed environment for it. */
  readonly git: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Ceiling of the store on disk; asked before every write. */
  readonly limitBytes?: () => number;
  /**
   * Made anew for each prune and asked several times: blobs that must stay though no branch reaches
   * them (ledger entries, pre-images, open work), but for what only these hold.
   */
  readonly pins?: (gone: Gone) => () => Iterable<Hash> | Promise<Iterable<Hash>>;
  /** How packs reach the disk; a test makes it fail. */
  readonly flush?: (path: string) => Promise<void>;
}
