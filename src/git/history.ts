import { SmithyError } from '../core/errors.js';
import type { CommitId, Hash, Path } from '../core/model.js';
import type { Commit, FileEntry, LogQuery, TreeChange } from '../core/store.js';
import type { FileMode } from '../core/watching.js';
import { parseCommit } from './message.js';
import { requireBranch, requireId } from './names.js';
import { EMPTY_TREE } from './tree-bytes.js';
import type { Layout } from './layout.js';
import type { Reader } from './reader.js';
import { readBranches } from './refs.js';
import type { Git } from './run.js';
import { compareTrees, findInTree } from './tree-walk.js';

export interface HistoryDeps {
  readonly git: Git;
  readonly layout: Layout;
  readonly reader: Reader;
}

const ABSENT = '0'.repeat(40);
const GITLINK = '160000';

/** Everything that is asked about commits and trees. */
export function createHistory({ git, layout, reader }: HistoryDeps) {
  async function readCommit(id: CommitId): Promise<Commit> {
    const object = await reader.read(requireId(id));
    if (object?.type === 'commit') return parseCommit(id, object.bytes);
    throw new SmithyError('CHECKPOINT_NOT_FOUND', `There is no checkpoint ${id}.`, {
      hint: '`smithyd log` shows the checkpoints of a dialog.',
      data: { id },
    });
  }

  return {
    readCommit,

    async log(dialog: string, query: LogQuery): Promise<Commit[]> {
      const { limit, before, without } = query;
      const tip = (await readBranches(layout, dialog)).get(requireBranch(query.branch));
      if (tip === undefined || limit <= 0) return [];
      if (before !== undefined) await readCommit(before);
      const ids = await git.text([
        'rev-list',
        '--first-parent',
        ...(limit === Infinity ? [] : [`--max-count=${Math.floor(limit)}`]),
        ...(before === undefined ? [] : ['--skip=1']),
        requireId(before ?? tip),
        ...(without === undefined ? [] : [`^${requireId(without)}`]),
      ]);
      return Promise.all(
        ids
          .split('\n')
          .filter(Boolean)
          .map((id) => readCommit(id as CommitId)),
      );
    },

    async tree(id: CommitId): Promise<Map<Path, FileEntry>> {
      const { tree } = await readCommit(id);
      const listing = await git.text(['ls-tree', '-r', '-z', '--full-tree', tree]);
      const entries = new Map<Path, FileEntry>();
      for (let at = 0; at < listing.length;) {
        const end = listing.indexOf('\0', at);
        // `<6 of mode> blob <40 of id>\t<path>`, and `commit` for another repository's commit.
        const isBlob = listing[at + 7] === 'b';
        const hash = listing.slice(at + 12, at + 52);
        const file = isBlob ? entry(listing.slice(at, at + 6), hash) : null;
        if (file !== null) entries.set(listing.slice(at + 53, end) as Path, file);
        at = end + 1;
      }
      return entries;
    },

    async fileAt(id: CommitId, path: Path): Promise<FileEntry | null> {
      const { tree } = await readCommit(id);
      const found = await findInTree(reader, tree, path);
      return found === undefined ? null : entry(found.mode, found.id);
    },

    async differences(a: CommitId, b: CommitId): Promise<TreeChange[]> {
      const [from, to] = await Promise.all([readCommit(a), readCommit(b)]);
      return compareTrees(reader, from.tree, to.tree);
    },

    async compare(a: CommitId | null, b: CommitId): Promise<TreeChange[]> {
      const from = a === null ? EMPTY_TREE : (await readCommit(a)).tree;
      const { tree: to } = await readCommit(b);
      const args = ['diff-tree', '-r', '-z', '-M', '--raw', '--no-abbrev', '--full-index'];
      return parseRaw(await git.text([...args, from, to]));
    },
  };
}

const CHANGES = { A: 'added', M: 'modified', T: 'modified', D: 'deleted', R: 'renamed' } as const;

/** `:<mode> <mode> <id> <id> <letter><score>`, a path, and for a rename another one. */
function parseRaw(raw: string): TreeChange[] {
  const fields = raw.split('\0');
  const changes: TreeChange[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const [modeBefore = '', modeAfter = '', before = '', after = '', letter = ''] = (
      fields[at] ?? ''
    )
      .slice(1)
      .split(' ');
    const change = CHANGES[letter[0] as keyof typeof CHANGES];
    const isRename = change === 'renamed';
    const path = fields[at + (isRename ? 2 : 1)] as Path;
    const sides = { before: entry(modeBefore, before), after: entry(modeAfter, after) };
    const from = isRename ? { from: fields[at + 1] as Path } : {};
    at += isRename ? 3 : 2;
    if (sides.before !== null || sides.after !== null) {
      changes.push({ path, change, ...sides, ...from });
    }
  }
  return changes;
}

/** Trees of older programs may name commits of other repositories, and modes git no longer writes. */
function entry(mode: string, hash: string): FileEntry | null {
  if (hash === ABSENT || mode === GITLINK) return null;
  const known = mode === '100664' ? '100644' : mode;
  return { mode: known as FileMode, hash: hash as Hash };
}
