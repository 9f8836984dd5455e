import { describe, expect, it } from '@jest/globals';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from '../support/daemon-process.mjs';
import { foregroundPerTest } from '../support/foreground.js';
import { until } from '../support/until.js';

interface Started {
  readonly edit_id: string;
}

interface Listed {
  readonly edits: readonly { edit_id: string; state: string }[];
}

async function authors(client: Connection, path: string): Promise<string[]> {
  const { lines } = await client.must<{ lines: { from: number; to: number; by: string }[] }>(
    'blame',
    { path },
  );
  return lines.flatMap(({ from, to, by }) => Array.from({ length: to - from + 1 }, () => by));
}

async function unknown(client: Connection): Promise<readonly string[]> {
  const { affectedFiles } = await client.must<{ affectedFiles: string[] }>(
    'detect_unknown_modifications',
  );
  return affectedFiles;
}

async function start(client: Connection, params: unknown): Promise<string> {
  return (await client.must<Started>('start_edit', params)).edit_id;
}

describe('whose work it is', () => {
  const foreground = foregroundPerTest();

  async function project() {
    const here = await foreground((root) => writeFileSync(join(root, 'a.txt'), 'one\ntwo\n'));
    const client = await here.open();
    await client.must('create_dialog', { title: 'authors' });
    const write = (path: string, text: string): void => {
      mkdirSync(join(here.root, path, '..'), { recursive: true });
      writeFileSync(join(here.root, path), text);
    };
    return { ...here, client, write };
  }

  it('is told for lines that nobody has saved yet', async () => {
    const { client, write } = await project();
    write('a.txt', 'one\nnew\ntwo\n');
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'unknown', 'baseline']);
    await start(client, { scope: 'project', tool: 'make' });
    write('b.txt', 'made\n');
    expect(await authors(client, 'b.txt')).toEqual(['command:make']);
  });

  it('stays unknown when an edit that was warned of it changed nothing', async () => {
    const { client, write, restart, open } = await project();
    write('a.txt', 'one\nstrange\n');
    const edit = await start(client, { files: ['a.txt'], strategy: 'warn' });
    expect(await unknown(client)).toEqual([]);
    await client.must('finalize_edit', { edit_id: edit });
    expect(await unknown(client)).toEqual(['a.txt']);
    await restart('SIGTERM');
    expect(await unknown(await open())).toEqual(['a.txt']);
  });

  it('stays unknown when an edit that had made it what is known is taken back', async () => {
    const { client, root, write } = await project();
    write('strange.txt', 'whose is this?\n');
    const edit = await start(client, { files: ['strange.txt'], strategy: 'warn' });
    rmSync(join(root, 'strange.txt'));
    await client.must('known_files', { limit: 1 });
    await client.must('abort_edit', { edit_id: edit });
    expect(await unknown(client)).toEqual(['strange.txt']);
  });

  it('comes back with rejected content, however often it was noted', async () => {
    const { client, write } = await project();
    write('a.txt', 'strange\n');
    const edit = await start(client, { files: ['a.txt'], strategy: 'warn' });
    await client.must('abort_edit', { edit_id: edit });
    await client.must('handle_unknown_changes', { strategy: 'reject' });
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'baseline']);
  });

  it('comes back with a restored file that had been replaced by another', async () => {
    const { client, root, write } = await project();
    const agent = { name: 'ada' };
    const edit = await start(client, { files: ['a.txt'], agent });
    write('a.txt', 'one\ntwo\nthree\n');
    await client.must('finalize_edit', { edit_id: edit });
    const { commit_id: checkpoint } = await client.must<{ commit_id: string }>('create_checkpoint');
    rmSync(join(root, 'a.txt'));
    await client.must('handle_unknown_changes', { strategy: 'integrate' });
    write('a.txt', 'another file\n');
    await client.must('handle_unknown_changes', { strategy: 'integrate' });
    await client.must('restore', { checkpoint_id: checkpoint });
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'baseline', 'agent:ada']);
  });

  it('comes back with a restored file although another one with its content goes', async () => {
    const { client, root } = await project();
    const { commit_id: checkpoint } = await client.must<{ commit_id: string }>('create_checkpoint');
    const edit = await start(client, { files: ['b.txt'], agent: { name: 'ada' } });
    renameSync(join(root, 'a.txt'), join(root, 'b.txt'));
    await client.must('finalize_edit', { edit_id: edit });
    expect(await authors(client, 'b.txt')).toEqual(['agent:ada', 'agent:ada']);
    await client.must('restore', { checkpoint_id: checkpoint });
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'baseline']);
  });

  it('comes back as it was then, although others wrote the same since', async () => {
    const { client, write } = await project();
    const { commit_id: checkpoint } = await client.must<{ commit_id: string }>('create_checkpoint');
    for (const text of ['other\n', 'one\ntwo\n', 'another\n']) {
      write('a.txt', text);
      await client.must('handle_unknown_changes', { strategy: 'integrate' });
    }
    await client.must('restore', { checkpoint_id: checkpoint });
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'baseline']);
  });

  it('comes back with lines that were saved while their edit was open', async () => {
    const { client, write } = await project();
    const edit = await start(client, { files: ['a.txt'], agent: { name: 'ada' } });
    write('a.txt', 'one\ntwo\nhalf done\n');
    const { commit_id: checkpoint } = await client.must<{ commit_id: string }>('create_checkpoint');
    await client.must('abort_edit', { edit_id: edit });
    await client.must('restore', { checkpoint_id: checkpoint });
    expect(await authors(client, 'a.txt')).toEqual(['baseline', 'baseline', 'agent:ada']);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'is known after %s when an edit was saved half done and then taken back',
    async (signal) => {
      const { client, write, restart, open } = await project();
      const edit = await start(client, { files: ['a.txt'] });
      write('a.txt', 'half done\n');
      await client.must('create_checkpoint', {});
      await client.must('abort_edit', { edit_id: edit });
      await restart(signal);
      expect(await unknown(await open())).toEqual([]);
    },
  );

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    'is a command’s after %s only for what changed while it ran',
    async (signal) => {
      const { client, write, restart, open } = await project();
      write('a.txt', 'one\nstrange\n');
      const edit = await start(client, { scope: 'project', tool: 'make', detached: true });
      write('saved.txt', 'made\n');
      await client.must('create_checkpoint', {});
      write('late.txt', 'made\n');
      write('strange.txt', 'made\n');
      await client.must('known_files', { limit: 1 });
      await restart(signal);
      const again = await open();
      expect(await authors(again, 'saved.txt')).toEqual(['command:make']);
      expect(await authors(again, 'late.txt')).toEqual(['command:make']);
      expect(await authors(again, 'a.txt')).toEqual(['baseline', 'unknown']);
      const { edits } = await again.must<Listed>('list_edits');
      expect(edits).toMatchObject([{ edit_id: edit, state: 'incomplete' }]);
    },
  );

  it('is not a command’s after a crash when it was unknown before the command', async () => {
    const { client, write, restart, open } = await project();
    write('a.txt', 'one\nstrange\n');
    await start(client, { scope: 'project', tool: 'make' });
    await restart('SIGKILL');
    const again = await open();
    expect(await unknown(again)).toEqual(['a.txt']);
    expect(await authors(again, 'a.txt')).toEqual(['baseline', 'unknown']);
  });

  it('is a command’s after a crash only from where an edit of named files gave it back', async () => {
    const { client, write, restart, open } = await project();
    write('strange.txt', 'strange\n');
    const edit = await start(client, { files: ['strange.txt'], strategy: 'warn' });
    await start(client, { scope: 'project', tool: 'make', detached: true });
    await client.must('abort_edit', { edit_id: edit });
    write('strange.txt', 'strange\nmade\n');
    await client.must('known_files', { limit: 1 });
    expect(await authors(client, 'strange.txt')).toEqual(['unknown', 'command:make']);
    await restart('SIGKILL');
    expect(await authors(await open(), 'strange.txt')).toEqual(['unknown', 'command:make']);
  });

  it('is a command’s after a crash only from where another command gave it back', async () => {
    const { client, write, restart, open } = await project();
    write('strange.txt', 'strange\n');
    const first = await start(client, { scope: 'project', tool: 'first', detached: true });
    write('strange.txt', 'strange\nhalf done\n');
    write('a.txt', 'half done\n');
    await client.must('known_files', { limit: 1 });
    const second = await start(client, { scope: 'project', tool: 'second', detached: true });
    write('a.txt', 'one\ntwo\n');
    write('strange.txt', 'strange\n');
    await client.must('finalize_edit', { edit_id: first });
    expect(await unknown(client)).toEqual(['strange.txt']);
    write('a.txt', 'one\ntwo\nmade\n');
    await client.must('known_files', { limit: 1 });
    await restart('SIGKILL');
    const again = await open();
    expect(await unknown(again)).toEqual(['strange.txt']);
    expect(await authors(again, 'strange.txt')).toEqual(['unknown']);
    await again.must('abort_edit', { edit_id: second });
    expect(await authors(again, 'a.txt')).toEqual(['baseline', 'baseline']);
  });

  it('is a command’s after a crash that nothing is left of what was unknown', async () => {
    const { client, root, write, restart, open } = await project();
    write('strange.txt', 'strange\n');
    const edit = await start(client, { scope: 'project', tool: 'clean', detached: true });
    rmSync(join(root, 'strange.txt'));
    await client.must('known_files', { limit: 1 });
    await restart('SIGKILL');
    const again = await open();
    expect(await again.must('abort_edit', { edit_id: edit })).toMatchObject({
      restored: ['strange.txt'],
    });
    expect(readFileSync(join(root, 'strange.txt'), 'utf8')).toBe('strange\n');
  });

  it.each([
    ['a checkpoint', true],
    ['no checkpoint', false],
  ])(
    'stays the first command’s after a crash with %s when a second one ran',
    async (_, isSaved) => {
      const { client, write, restart, open } = await project();
      await start(client, { scope: 'project', tool: 'first', detached: true });
      write('made.txt', 'first\n');
      write('a.txt', 'one\n');
      await client.must('known_files', { limit: 1 });
      write('a.txt', 'one\ntwo\n');
      await client.must('known_files', { limit: 1 });
      await start(client, { scope: 'project', tool: 'second', detached: true });
      if (isSaved) await client.must('create_checkpoint', {});
      write('made.txt', 'first\nmore\n');
      write('a.txt', 'one\ntwo\nthree\n');
      write('other.txt', 'second\n');
      await client.must('known_files', { limit: 1 });
      const expected = [
        ['command:first', 'command:first'],
        ['baseline', 'baseline', 'command:first'],
        ['command:second'],
      ];
      const told = async (one: Connection) => [
        await authors(one, 'made.txt'),
        await authors(one, 'a.txt'),
        await authors(one, 'other.txt'),
      ];
      expect(await told(client)).toEqual(expected);
      await restart('SIGKILL');
      expect(await told(await open())).toEqual(expected);
    },
  );

  it('keeps nobody off a path once the daemon that had the edit is gone', async () => {
    const { client, write, restart, open } = await project();
    for (let round = 0; round < 2; round++) {
      const current = round === 0 ? client : await open();
      await start(current, { files: ['a.txt'] });
      write('a.txt', `round ${round}\n`);
      await restart('SIGKILL');
      const again = await open();
      const { code } = await again.call('start_edit', { files: ['a.txt'], detached: true });
      expect(code).toBeUndefined();
      await restart('SIGKILL');
    }
  });

  it('goes on with a waiting edit when the one before puts a deleted file back', async () => {
    const { client, root, open } = await project();
    const other = await open();
    for (let round = 0; round < 10; round++) {
      const edit = await start(client, { files: ['a.txt'] });
      rmSync(join(root, 'a.txt'));
      const waiting = other.call<Started>('start_edit', { files: ['a.txt'], wait_ms: 60_000 });
      await client.must('abort_edit', { edit_id: edit });
      const { result, code } = await waiting;
      expect(code).toBeUndefined();
      await other.must('finalize_edit', { edit_id: result?.edit_id });
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('is nobody’s any more when a client goes away while its edit begins', async () => {
    const { client, open } = await project();
    for (let round = 0; round < 10; round++) {
      const leaving = await open();
      const edit = await start(leaving, { files: [`first-${round}.txt`] });
      await leaving.must('finalize_edit', { edit_id: edit });
      const begun = leaving.call('start_edit', { files: [`second-${round}.txt`] });
      leaving.hangUp();
      await begun.catch(() => undefined);
    }
    await until('no edit of a client that is gone is open', async () => {
      return (await client.must<Listed>('list_edits')).edits.length === 0;
    });
  });
});
