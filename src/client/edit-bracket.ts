import type { Answer, Params } from '../api/table.js';
import { SmithyError } from '../core/errors.js';
import { reachDaemon, type ReachOptions } from './reach.js';
import type { Wire } from './wire.js';

/** The parameters of `start_edit`; the edit is always tied to its connection. */
export type EditOptions = Omit<Params<'start_edit'>, 'detached' | 'request_id'>;

export interface EditOutcome<T> {
  /** What the work gave back. */
  readonly result: T;
  readonly edit: Answer<'finalize_edit'>;
}

export type EditWork<T> = (edit: Answer<'start_edit'>) => Promise<T> | T;

interface Bracket<T> {
  readonly options: ReachOptions;
  readonly timeoutMs: number;
  readonly what: readonly string[] | EditOptions;
  readonly work: EditWork<T>;
}

/**
 * The edit has a connection of its own for its whole life. Over a shared one that is opened anew
 * when it breaks, the daemon would take the first half of an edit back and be asked to finalize it.
 * And whatever goes wrong here, the end of the connection settles it: nothing stays held.
 */
export async function bracket<T>(bracketed: Bracket<T>): Promise<EditOutcome<T>> {
  const { options, timeoutMs, what, work } = bracketed;
  const params: EditOptions = isList(what) ? { files: [...what] } : what;
  const { wire } = await reachDaemon(options);
  try {
    const patience = timeoutMs + (params.wait_ms ?? 0);
    const started = (await wire.call('start_edit', params, patience)) as Answer<'start_edit'>;
    const { edit_id } = started;
    const result = await orElse(
      () => work(started),
      () => settle(bracketed, wire, { method: 'abort_edit', edit_id }),
    );
    const edit = await settle(bracketed, wire, { method: 'finalize_edit', edit_id });
    return { result, edit: edit as Answer<'finalize_edit'> };
  } finally {
    wire.close();
    await wire.closed;
  }
}

/** The error of the work counts, whatever becomes of the way back: its caller wants to know it. */
async function orElse<T>(work: () => Promise<T> | T, goBack: () => Promise<unknown>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await goBack().catch(() => undefined);
    throw error;
  }
}

interface End {
  readonly method: 'finalize_edit' | 'abort_edit';
  readonly edit_id: string;
}

/**
 * A daemon that died in the meantime left the edit incomplete, and the next one can still settle it.
 * One that only lost the connection has aborted it, and says so.
 */
async function settle<T>(
  { options, timeoutMs }: Bracket<T>,
  wire: Wire,
  { method, edit_id }: End,
): Promise<unknown> {
  try {
    return await wire.call(method, { edit_id }, timeoutMs);
  } catch (error) {
    const isLost = error instanceof SmithyError && error.code === 'DAEMON_UNAVAILABLE';
    if (!isLost) throw error;
    const { wire: next } = await reachDaemon(options);
    return await next.call(method, { edit_id }, timeoutMs).finally(() => next.close());
  }
}

function isList(what: readonly string[] | EditOptions): what is readonly string[] {
  return Array.isArray(what);
}
