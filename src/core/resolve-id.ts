import { SmithyError, type ErrorCode } from './errors.js';
import { didYouMean, nearest } from './nearest.js';

/** What has ids, and the command that lists them. */
const LISTED_BY = {
  dialog: 'smithyd dialog list',
  checkpoint: 'smithyd log',
  edit: 'smithyd edit list',
  milestone: 'smithyd milestone list',
  'file checkpoint': undefined,
} as const;

export interface IdQuestion {
  readonly what: keyof typeof LISTED_BY;
  readonly given: string;
  readonly known: Iterable<string>;
  /** What else it may have been meant to be, for the hint. */
  readonly names?: Iterable<string>;
  readonly missing: ErrorCode;
}

const SHORTEST = 4;
const MOST_CANDIDATES = 10;

/** An id that `given` may stand for; undefined when it is too short or none begins so. */
export function idBegunBy(given: string, ids: Iterable<string>): string | undefined {
  if (given.length < SHORTEST) return undefined;
  const wanted = given.toLowerCase();
  for (const id of ids) if (id.toLowerCase().startsWith(wanted)) return id;
  return undefined;
}

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
  const list = LISTED_BY[what];
  const rule = [
    ...(given.length < SHORTEST
      ? [`An id may be shortened to ${SHORTEST} characters or more.`]
      : []),
    ...(list === undefined ? [] : [`See \`${list}\`.`]),
  ].join(' ');
  const hint = didYouMean(near) ?? rule;
  throw new SmithyError(missing, `There is no ${what} ${given.slice(0, 100)}.`, {
    ...(hint === '' ? {} : { hint }),
    data: { id: given, near },
  });
}
