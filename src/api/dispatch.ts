import { SmithyError } from '../core/errors.js';
import type { Log } from '../core/ports.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { describeProblems, hintOf, problemsOf } from '../core/schema-problems.js';
import type { AnyMethod, Context } from './method.js';

export interface Call {
  readonly method: string;
  readonly params: unknown;
}

export type Dispatch = (call: Call, context: Context) => Promise<unknown>;

/** Told of a call when it begins and of its outcome when it ends; names come from the table, so they are few. */
export type CallObserver = (method: string) => (outcome: string) => void;

export interface DispatchDeps {
  readonly observe: CallObserver;
  readonly log: Log;
}

/** The only way from a transport to a method: look up, check the input, run, check the answer. */
export function createDispatch(
  methods: readonly AnyMethod[],
  { observe, log }: DispatchDeps,
): Dispatch {
  // A Map, not an object: "constructor" and "__proto__" are no methods.
  const byName = new Map(methods.map((row) => [row.name, row]));
  return async (call, context) => {
    const row = byName.get(call.method);
    if (row?.on.includes(context.transport) !== true) {
      observe('unknown')('METHOD_NOT_FOUND');
      throw unknownMethod(call.method, methods, context);
    }
    const ended = observe(row.name);
    try {
      const result = row.output.parse(await row.run(context, readInput(row, call.params) as never));
      ended('ok');
      return result;
    } catch (error) {
      const failure = SmithyError.from(error);
      if (failure.code === 'INTERNAL') reportBug(log, row.name, failure);
      ended(failure.code);
      throw failure;
    }
  };
}

/** Nobody outside is told more than that it happened. */
export function reportBug(log: Log, what: string, { cause }: SmithyError): void {
  const why = cause instanceof Error ? cause.stack : String(cause);
  log.write('error', 'a method failed unexpectedly', { method: what, cause: why });
}

function readInput(row: AnyMethod, params: unknown): unknown {
  const parsed = row.input.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const issues = problemsOf(row.input, parsed.error);
  const hint = hintOf(issues) ?? `Parameters of ${row.name}: ${parameters(row)}.`;
  throw new SmithyError('INVALID_PARAMS', `${row.name}: ${describeProblems(issues)}.`, {
    hint,
    data: { issues },
  });
}

function parameters(row: AnyMethod): string {
  return Object.keys(row.input.shape).join(', ') || 'none';
}

function unknownMethod(name: string, methods: readonly AnyMethod[], context: Context): SmithyError {
  const offered = methods.filter((row) => row.on.includes(context.transport));
  const near = nearest(
    name,
    offered.map((row) => row.name),
  );
  return new SmithyError('METHOD_NOT_FOUND', `There is no method "${name.slice(0, 100)}".`, {
    hint: didYouMean(near) ?? 'See docs/METHODS.md for all methods.',
    data: { near },
  });
}
