import type { CommitId } from '../core/model.js';
import type { CommitRequest } from '../core/store.js';
import { toText } from './message.js';
import { requireTreePath } from './names.js';

/** The words of `git fast-import`, as text. No state, no pipes. */

/** A branch that exists only inside the child: it is reset before it could be written anywhere. */
const SCRATCH = 'refs/scratch/tip';
const COMMITTER = 'smithyd <smithyd@localhost>';

/** The path as the last word of a line; quoted only where git needs it. */
function quotePath(path: string): string {
  requireTreePath(path);
  if (!/^"|\n/u.test(path)) return path;
  const escaped = path.replace(/["\\\n]/gu, (one) => (one === '\n' ? '\\n' : `\\${one}`));
  return `"${escaped}"`;
}

export interface CommitStart {
  readonly request: CommitRequest;
  readonly mark: number;
  /** A mark of this child (`:7`) or an id; marks spare git the search for a ref of that name. */
  readonly nameOf: (id: CommitId) => string;
  /** The tree to start from when it is not the first parent's. */
  readonly tree: string | undefined;
}

/** Everything of a commit up to its file list. */
export function commitHead({ request, mark, nameOf, tree }: CommitStart): string {
  const { parents, base, dialog, message, trailers, emptyFolders, at } = request;
  const text = toText(message, { 'Dialog-Id': dialog, ...trailers }, emptyFolders);
  const [first, ...others] = parents;
  const lines = [
    `commit ${SCRATCH}`,
    `mark :${mark}`,
    `committer ${COMMITTER} ${Math.floor(at / 1000)} +0000`,
    `data ${Buffer.byteLength(text)}`,
    text,
  ];
  if (first !== undefined) lines.push(`from ${nameOf(first)}`);
  for (const other of others) lines.push(`merge ${nameOf(other)}`);
  if (base === null && first !== undefined) lines.push('deleteall');
  if (tree !== undefined) lines.push(`M 040000 ${tree} ""`);
  return `${lines.join('\n')}\n`;
}

/** The deletions, then the files: a file may stand where a folder was, and the other way round. */
export function* fileCommands(changes: CommitRequest['changes']): Generator<string> {
  const files: string[] = [];
  for (const change of changes) {
    if ('deleted' in change) yield `D ${quotePath(change.path)}\n`;
    else files.push(`M ${change.mode} ${change.hash} ${quotePath(change.path)}\n`);
  }
  yield* files;
}

/** Ends a commit and asks for its id. The branch is dropped: refs are not the child's business. */
export function commitEnd(mark: number): string {
  return `\nget-mark :${mark}\nreset ${SCRATCH}\n\n`;
}

/** Finishes the pack and says so. */
export function checkpoint(token: string): string {
  return `checkpoint\nprogress ${token}\n`;
}
