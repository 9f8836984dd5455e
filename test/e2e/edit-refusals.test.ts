import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../support/daemon-process.mjs';
import { foregroundPerTest } from '../support/foreground.js';

interface Started {
  readonly edit_id: string;
}

/** Everything in the project but the daemon's own state: contents, modes and times. */
function tree(root: string): string {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path === '.agentsmithy') continue;
      const stat = lstatSync(join(root, path), { bigint: true });
      const content = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(root, path)))
            .digest('hex')
        : stat.isSymbolicLink()
          ? readlinkSync(join(root, path))
          : '';
      found.push([path, stat.mode, stat.ino, stat.mtimeNs, stat.ctimeNs, content].join(' '));
      if (stat.isDirectory()) visit(path);
    }
  };
  visit('');
  return found.join('\n');
}

const NEVER = '0123456789012345678901234567890123456789';

describe('a refusal', () => {
  const foreground = foregroundPerTest();

  function prepare(root: string): void {
    mkdirSync(join(root, 'src/deep'), { recursive: true });
    mkdirSync(join(root, '.git/hooks'), { recursive: true });
    for (const path of [
      'a.txt',
      'held.txt',
      'strange.txt',
      'src/b.ts',
      '.git/hooks/x',
      'big.bin',
    ]) {
      writeFileSync(join(root, path), `first of ${path}\n`);
    }
    symlinkSync('src', join(root, 'link'));
    symlinkSync('a.txt', join(root, 'filelink'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
  }

  /** Open edits and unknown changes, so that there is something to refuse, and to spoil. */
  async function occupied() {
    const here = await foreground(prepare);
    const client = await here.open();
    const other = await here.open();
    const { initial_checkpoint: checkpoint } = await client.must<{ initial_checkpoint: string }>(
      'create_dialog',
      { title: 'refusals' },
    );
    const held = await other.must<Started>('start_edit', { files: ['held.txt', 'new/made.txt'] });
    writeFileSync(join(here.root, 'held.txt'), 'half done\n');
    writeFileSync(join(here.root, 'strange.txt'), 'whose is this?\n');
    const gone = await client.must<Started>('start_edit', { files: ['src/b.ts'] });
    await client.must('abort_edit', { edit_id: gone.edit_id });
    return { ...here, client, held: held.edit_id, gone: gone.edit_id, checkpoint };
  }

  it('89: of any kind changes no byte of the project', async () => {
    const { root, client, held, gone, checkpoint } = await occupied();
    await client.must('update_config', { maxFileBytes: 1_000 });
    writeFileSync(join(root, 'big.bin'), 'x'.repeat(2_000));
    const files = (...paths: string[]) => ({ files: paths });
    const start: [params: unknown, code: string][] = [
      [files('../outside.txt'), 'PATH_OUTSIDE_ROOT'],
      [files('/etc/passwd'), 'PATH_OUTSIDE_ROOT'],
      [files('link/b.ts'), 'PATH_OUTSIDE_ROOT'],
      [files('a.txt/below'), 'PATH_OUTSIDE_ROOT'],
      [files('a.txt', 'link/new.ts'), 'PATH_OUTSIDE_ROOT'],
      [files('.git/hooks/x'), 'PATH_PROTECTED'],
      [files('.agentsmithy/config.json'), 'PATH_PROTECTED'],
      [files('src'), 'PATH_UNSUPPORTED'],
      [files('pipe'), 'PATH_UNSUPPORTED'],
      [files('a.txt', 'held.txt'), 'EDIT_CONFLICT'],
      [{ ...files('held.txt'), wait_ms: 5 }, 'EDIT_CONFLICT'],
      [files('new/made.txt'), 'EDIT_CONFLICT'],
      [{ ...files('a.txt'), expect: { 'a.txt': NEVER } }, 'STALE_READ'],
      [{ ...files('a.txt'), expect: { 'a.txt': null } }, 'STALE_READ'],
      [{ ...files('fresh.txt'), expect: { 'fresh.txt': NEVER } }, 'STALE_READ'],
      [{ ...files('strange.txt', 'a.txt'), strategy: 'strict' }, 'UNKNOWN_CHANGES'],
      [{ scope: 'project', strategy: 'reject' }, 'UNKNOWN_CHANGES'],
      [files('big.bin'), 'LIMIT_EXCEEDED'],
      [files(), 'INVALID_PARAMS'],
      [{}, 'INVALID_PARAMS'],
      [{ ...files('a.txt'), scope: 'project' }, 'INVALID_PARAMS'],
      [{ ...files('a.txt'), colour: 'red' }, 'INVALID_PARAMS'],
      [{ ...files('a.txt'), ttl_ms: 0 }, 'INVALID_PARAMS'],
      [{ ...files('a.txt'), strategy: 'hope' }, 'INVALID_PARAMS'],
      [{ ...files('a.txt'), dialog_id: 'nosuchdialog' }, 'DIALOG_NOT_FOUND'],
    ];
    const calls: [method: string, params: unknown, code: string][] = [
      ...start.map(([params, code]): [string, unknown, string] => ['start_edit', params, code]),
      ['finalize_edit', { edit_id: 'nosuchedit' }, 'EDIT_NOT_FOUND'],
      ['finalize_edit', { edit_id: gone }, 'EDIT_NOT_FOUND'],
      ['finalize_edit', {}, 'INVALID_PARAMS'],
      ['abort_edit', { edit_id: 'nosuchedit' }, 'EDIT_NOT_FOUND'],
      ['abort_edit', { edit_id: gone }, 'EDIT_NOT_FOUND'],
      ['restore', { checkpoint_id: checkpoint }, 'RESTORE_BLOCKED'],
      ['restore', { checkpoint_id: checkpoint, paths: ['held.txt'] }, 'RESTORE_BLOCKED'],
      ['blame', { path: '../outside.txt' }, 'PATH_OUTSIDE_ROOT'],
      ['blame', { path: 'nosuchfile' }, 'PATH_UNSUPPORTED'],
      ['handle_unknown_changes', { strategy: 'hope' }, 'INVALID_PARAMS'],
      ['handle_unknown_changes', { strategy: 'reject', files: ['../x'] }, 'PATH_OUTSIDE_ROOT'],
      ['validate_files', { files: ['.git/hooks/x'] }, 'PATH_PROTECTED'],
      ['detect_unknown_modifications', { files: ['/etc/passwd'] }, 'PATH_OUTSIDE_ROOT'],
    ];
    const before = tree(root);
    const answers: [string, unknown, string | undefined][] = [];
    const spoilt: unknown[] = [];
    for (const [method, params] of calls) {
      const { code } = await client.call(method, params);
      answers.push([method, params, code]);
      if (tree(root) !== before) spoilt.push([method, params]);
    }
    expect(answers).toEqual(calls);
    expect(spoilt).toEqual([]);
    expect(await openEdits(client)).toEqual([held]);
  });

  it('of one edit too many changes no byte of the project', async () => {
    const { root, client, held } = await occupied();
    const started = await Promise.all(
      Array.from({ length: 64 }, (_, number) =>
        client.must<Started>('start_edit', { files: [`many/${number}.txt`] }),
      ),
    );
    const before = tree(root);
    const { code } = await client.call('start_edit', { files: ['many/65.txt'] });
    expect(code).toBe('LIMIT_EXCEEDED');
    expect(tree(root)).toBe(before);
    expect(await openEdits(client)).toEqual([held, ...started.map((one) => one.edit_id)].sort());
  });
});

async function openEdits(client: Connection): Promise<string[]> {
  const { edits } = await client.must<{ edits: Started[] }>('list_edits');
  return edits.map(({ edit_id: id }) => id).sort();
}
