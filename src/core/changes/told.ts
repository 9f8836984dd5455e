import type { Entries, StreamName } from './streams.js';

/** One thing that a running program told, and the stream it belongs to. */
export type Told = {
  readonly [Name in StreamName]: { readonly stream: Name; readonly entry: Entries[Name] };
}[StreamName];
