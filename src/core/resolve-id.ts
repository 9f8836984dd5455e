import { SmithyError, type ErrorCode } from './errors.js';
import { didYouMean, nearest } from './nearest.js';

export interface IdQuestion {
  /** For people: "dialog", "checkpoint". */
  readonly what: string;
  readonly given: string;
  readonly known: Iterable<string>;
  /** What else it may have been meant to be, for the hint. */
  readonly names?: Iterable<string>;
  readonly missing: ErrorCode;
}

const SHORTEST = 4;
const MOST_CANDIDATES = 10;

/** The one id that `given` means: itself, or the only one it begins. */
export function resolveId({ what, given, known, names = [], missing }: IdQuestion): string {
  const all = [...known];
  if (all.includes(given)) return given;
  const wanted = given.toLowerCase();
  const begun =
    given.length < SHORTEST ? [] : all.filter((id) => id.toLowerCase().startsWith(wanted));
  const [only] = begun;
  if (only !== undefined && begun.length === 1) return only;
  if (begun.length > 1) {
    throw new SmithyError('AMBIGUOUS_ID', `${given} could be ${begun.length} ${what}s.`, {
      hint: 'Give more of its characters.',
      data: { id: given, candidates: begun.slice(0, MOST_CANDIDATES) },
    });
  }
  const near = nearest(given, [...all, ...names]);
  const short = `An id may be shortened to ${SHORTEST} characters or more.`;
  throw new SmithyError(missing, `There is no ${what} ${given.slice(0, 100)}.`, {
    hint: didYouMean(near) ?? (given.length < SHORTEST ? short : `See the list of ${what}s.`),
    data: { id: given, near },
  });
}
