import type { FileResult } from '../file-results.js';
import { groupBy } from '../group-by.js';
import type { ChangeOrigin } from '../watching.js';

/** A file that is not what it was, and who did it. */
export interface FileNews {
  readonly result: FileResult;
  /** The last one: `agent:NAME`, `command:TOOL`, `dialog:ID` or `unknown`. */
  readonly by: string;
  /** Others who changed it too. */
  readonly also: readonly string[];
  /** Somebody should know of it: nobody announced it. */
  readonly isUnknown: boolean;
  /** How it was noticed, of one that nobody announced. */
  readonly origin?: ChangeOrigin | undefined;
}

/** One line of an answer: a file, or many that belong together. */
export interface FileLine {
  /** Ends with a slash for a folder; `./` is the whole project. */
  readonly path: string;
  readonly from?: string;
  readonly change: 'created' | 'modified' | 'deleted' | 'renamed' | 'several';
  readonly by: string;
  readonly also: readonly string[];
  readonly isUnknown: boolean;
  readonly origin?: ChangeOrigin | undefined;
  /** How many, when it is more than one. */
  readonly files?: number;
  /** The one file that it is about. */
  readonly result?: FileResult;
}

/** So many can be told one by one. */
const EACH = 20;
/** So many of one author can be told one by one among many others. */
const EACH_AMONG_MANY = 5;
/** A commit, a checkout or a rebase that touched more than this is one thing that happened. */
const EACH_OF_GIT = 4;

/** What nobody announced first, then author by author; what belongs together on one line, if wished. */
export function fileLines(news: readonly FileNews[], isTogether = true): FileLine[] {
  if (!isTogether) return news.map(toLine).sort(byImportance);
  const git = news.filter(isGits);
  const single = git.length > EACH_OF_GIT ? news.filter((one) => !isGits(one)) : news;
  const together = git.length > EACH_OF_GIT ? [toGroup(git)] : [];
  return [...together, ...toLines(single)].sort(byImportance);
}

/** An operation of git that nobody announced. */
function isGits({ isUnknown, origin }: FileNews): boolean {
  return isUnknown && origin === 'git';
}

function toLines(news: readonly FileNews[]): FileLine[] {
  if (news.length <= EACH) return news.map(toLine);
  const authors = groupBy(news, ({ by, isUnknown }) => `${isUnknown} ${by}`);
  return [...authors.values()].flatMap((own) => {
    if (own.length <= EACH_AMONG_MANY) return own.map(toLine);
    const folders = groupBy(own, ({ result }) => topOf(result.path));
    return [...folders.values()].map((some) => {
      const [only] = some;
      return only !== undefined && some.length === 1 ? toLine(only) : toGroup(some);
    });
  });
}

function toLine({ result, ...news }: FileNews): FileLine {
  const { path, from, change } = result;
  return {
    path,
    ...(from === undefined ? {} : { from }),
    change: change === 'unchanged' ? 'modified' : change,
    ...news,
    result,
  };
}

function toGroup(news: readonly FileNews[]): FileLine {
  const kinds = new Set(news.map(({ result }) => result.change));
  const [kind] = kinds;
  const isAlike = kinds.size === 1 && kind !== undefined && kind !== 'unchanged';
  const authors = new Set(news.flatMap(({ by, also }) => [by, ...also]));
  const [by = 'unknown', ...also] = authors;
  const origins = new Set(news.map(({ origin }) => origin));
  const [origin] = origins;
  return {
    path: commonFolder(news.map(({ result }) => result.path)),
    change: isAlike ? kind : 'several',
    by,
    also,
    isUnknown: news.some(({ isUnknown }) => isUnknown),
    ...(origins.size === 1 && origin !== undefined ? { origin } : {}),
    files: news.length,
  };
}

/** Files at the root are together, and so are those of each folder there. */
function topOf(path: string): string {
  const end = path.indexOf('/');
  return end === -1 ? '' : path.slice(0, end);
}

function commonFolder(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.split('/').slice(0, -1));
  let length = first.length;
  for (const other of others) {
    length = Math.min(length, other.length);
    while (first.slice(0, length).join('/') !== other.slice(0, length).join('/')) length -= 1;
  }
  return length === 0 ? './' : `${first.slice(0, length).join('/')}/`;
}

function byImportance(a: FileLine, b: FileLine): number {
  if (a.isUnknown !== b.isUnknown) return a.isUnknown ? -1 : 1;
  const [many, few] = [a.files ?? 1, b.files ?? 1];
  if (a.by !== b.by) return a.by < b.by ? -1 : 1;
  return few - many || (a.path < b.path ? -1 : 1);
}
