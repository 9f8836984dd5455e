import type { z } from 'zod';
import type { StreamedEvent } from '../core/events.js';
import type { Workspace } from '../workspace/workspace.js';

/** The doorsteps a method can be offered on. */
export type Transport = 'socket' | 'http' | 'mcp' | 'cli';

/** The other end of a call, as far as a method may care. */
export interface Peer {
  /** The same for all calls that come over one connection. */
  readonly identity: object;
  /** Gone with its one answer, as a plain HTTP request is: nothing can belong to it or be sent later. */
  readonly isBrief: boolean;
  /** Sends an event to whoever subscribed. */
  deliver(event: StreamedEvent): void;
  /** Resolves when the other end has taken enough of what was sent, or is gone. */
  drained(): Promise<void>;
  /** Runs once when the other end is gone. The connection counts as used until then. */
  readonly onGone: (release: () => void) => void;
  /** Keeps the connection open until the process ends: its end is the proof of ours. */
  linger(): void;
  /** From the next frame on the connection speaks MCP; only a socket can. */
  readonly becomeMcp?: () => Promise<void>;
}

export interface Context {
  readonly transport: Exclude<Transport, 'cli'>;
  readonly workspace: Workspace;
  readonly peer: Peer;
}

/** How the command line spells a method; flags come from the input schema. */
export interface CliForm {
  /** `status`, or two words as in `config get`. */
  readonly command: string;
  /** Input fields given by position; the last one may take the rest of the line. */
  readonly positional?: readonly string[];
  /** Other words for fields: field -> flag. */
  readonly names?: Readonly<Record<string, string>>;
  /** One-letter spellings: letter -> field. */
  readonly short?: Readonly<Record<string, string>>;
  /** Further flags that set a field to a value: `--keep-external` is `mode: keep_external`. */
  readonly switches?: Readonly<Record<string, { readonly field: string; readonly value: string }>>;
  /** Fields that name a file where the caller stands: made absolute before they are sent. */
  readonly places?: readonly string[];
  /** Fields that the command line always sets. */
  readonly fixed?: Readonly<Record<string, unknown>>;
}

/** One row of the table: the whole public definition of a method. */
export interface Method<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  /** One sentence: command line help, MCP description and reference. */
  readonly summary: string;
  /** `read` may run at any time and is safe to repeat; `write` changes something. */
  readonly effect: 'read' | 'write';
  /** A write that may replace or remove what is there, even if it can be brought back. */
  readonly destructive?: true;
  /** For models: when to call it, and what comes next. */
  readonly advice?: string;
  /** Explicit, so that offering a write to agents is a visible line of a diff. */
  readonly on: readonly Transport[];
  readonly input: I;
  readonly output: O;
  readonly cli?: CliForm;
  run(context: Context, input: z.output<I>): Promise<z.input<O>> | z.input<O>;
}

/** Identity function: exists so that `run` is checked against both schemas. */
export function method<const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  row: Method<I, O> & { readonly name: N },
): Method<I, O> & { readonly name: N } {
  return row;
}

/** A row whose input type is forgotten, so that all rows fit in one list. */
export type AnyMethod = Omit<Method, 'run'> & {
  run(context: Context, input: never): unknown;
};
