import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import type { Project } from './daemon-project.js';
import { git } from './work.js';

export const OLD = '01HZZZZZZZZZZZZZZZZZZZZZ01';

export interface OldDialog {
  readonly folder: string;
  /** Oldest first. */
  readonly commits: readonly string[];
}

/**
 * A dialog as a program without sessions left it: a repository of its own with a single branch,
 * a journal with other tables than ours, and an entry in the index.
 */
export function makeOldDialog(
  project: Project,
  versions: readonly Readonly<Record<string, string>>[],
  id = OLD,
): OldDialog {
  const folder = project.path('dialogs', id);
  const checkpoints = join(folder, 'checkpoints');
  mkdirSync(checkpoints, { recursive: true, mode: 0o700 });
  git(checkpoints, ['init', '-q', '-b', 'master']);
  const commits = versions.map((files, number) => {
    git(checkpoints, ['rm', '-rq', '--cached', '--ignore-unmatch', '.']);
    for (const [path, content] of Object.entries(files)) {
      const blob = git(checkpoints, ['hash-object', '-w', '--stdin'], content).trim();
      git(checkpoints, ['update-index', '--add', '--cacheinfo', `100644,${blob},${path}`]);
    }
    const message = `Before user message: number ${number}`;
    git(checkpoints, ['commit', '-q', '--allow-empty', '-m', message]);
    return git(checkpoints, ['rev-parse', 'HEAD']).trim();
  });
  writeFileSync(join(checkpoints, 'metadata.json'), '{"made_by": "an older program"}\n');
  const journal = new Database(join(folder, 'journal.sqlite'));
  journal.exec(
    "CREATE TABLE messages (role TEXT, text TEXT); INSERT INTO messages VALUES ('user', 'hello')",
  );
  journal.close();
  return { folder, commits };
}

export function writeOldIndex(project: Project, titles: Readonly<Record<string, string>>): void {
  const dialogs = Object.entries(titles).map(([id, title]) => {
    return { id, title, created_at: '2025-01-02T03:04:05Z', updated_at: '2025-02-03T04:05:06Z' };
  });
  const current = Object.keys(titles)[0] ?? null;
  const content = JSON.stringify({ dialogs, current_dialog_id: current });
  writeFileSync(project.path('dialogs/index.json'), content);
}

/** Path -> kind, mode and content of everything below a folder. */
export function contentOf(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode } = lstatSync(path);
    const content = entry.isFile()
      ? createHash('sha256').update(readFileSync(path)).digest('hex')
      : entry.isSymbolicLink()
        ? readlinkSync(path)
        : '';
    found[path.slice(folder.length + 1)] = `${mode.toString(8)} ${content}`;
  }
  return found;
}
