import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { editing, type Finalized } from '../support/edits.js';
import { until } from '../support/until.js';
import { git, sharedWork, type Work } from '../support/work.js';

interface Line {
  readonly seq: number;
  readonly id: string;
  readonly action_type: string;
  readonly diff_path: string | null;
  readonly files: readonly string[];
  readonly affected_lines: readonly number[];
  readonly changes: readonly { readonly path: string; readonly after: string | null }[];
  readonly [field: string]: unknown;
}

function lines(work: Work): Line[] {
  const text = readFileSync(work.project.path('ledger/events.jsonl'), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

function line(work: Work, id: string | undefined): Line {
  const found = lines(work).find((one) => one.id === id);
  if (found === undefined) throw new Error(`no line ${id ?? ''}`);
  return found;
}

describe('a line of the ledger', () => {
  const shared = sharedWork();

  async function edited(files: Readonly<Record<string, string | null>>, more: object = {}) {
    const work = shared();
    const edit = editing(work);
    const started = await edit.start(Object.keys(files), more);
    work.put(files);
    return edit.finalize(started);
  }

  it('says what a checkpoint could not take in when that is not what was said last', async () => {
    const work = shared();
    await work.fresh({ a: '0' });
    execFileSync('mkfifo', [work.at('b')]);
    const saves: string[] = [];
    for (const a of ['1', '2']) {
      work.put({ a });
      saves.push((await work.save()).commit_id);
    }
    rmSync(work.at('b'));
    work.put({ b: 'a file by now' });
    saves.push((await work.save()).commit_id);
    const said = saves.map((commit) => {
      return lines(work).find(
        ({ fact }) => (fact as { commit?: string } | undefined)?.commit === commit,
      );
    });
    expect(said.map((one) => one?.['skipped'])).toEqual([['b'], undefined, []]);
    // The second one says nothing of it and could not take it in either.
    const { deleted, skipped } = await work.restore(saves[1] ?? '');
    expect({ deleted, skipped }).toEqual({
      deleted: [],
      skipped: [{ path: 'b', reason: 'not_in_checkpoint' }],
    });
  });

  it('has every field of the format, with what the edit said of itself', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: 'one\ntwo\n' });
    const { edit_id: id } = await work.call<{ edit_id: string }>('start_edit', {
      files: ['a'],
      agent: { name: 'ann', version: '4.2' },
      rationale: 'at first',
      run_id: 'run-42',
    });
    work.put({ a: 'one\nnew\ntwo\n' });
    const { events } = await work.call<Finalized>('finalize_edit', {
      edit_id: id,
      rationale: 'in the end',
      artifacts: ['traces/1.json'],
    });
    const blob = (text: string): string => git(work.root, ['hash-object', '--stdin'], text).trim();
    const started = lines(work).findLast(({ action_type: type }) => type === 'edit_started');
    const told = line(work, events[0]);
    expect(told).toMatchObject({
      id: `evt-${String(told.seq).padStart(6, '0')}`,
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/u),
      author: { name: 'ann', version: '4.2', kind: 'agent' },
      action_type: 'edit_insert',
      branch: 'session_1',
      session: 'session_1',
      dialog_id: dialog,
      run_id: 'run-42',
      parent_event_id: started?.id,
      files: ['a'],
      diff_path: `ledger/diffs/diff-${told.id}.patch`,
      affected_lines: [2],
      semantic_block: null,
      rationale: 'in the end',
      artifacts: ['traces/1.json'],
      snapshot_ref: null,
      bookmark: null,
      prev: expect.stringMatching(/^[0-9a-f]{64}$/u),
      changes: [
        {
          path: 'a',
          before: blob('one\ntwo\n'),
          after: blob('one\nnew\ntwo\n'),
          mode_before: '100644',
          mode_after: '100644',
        },
      ],
    });
  });

  it.each([
    ['edit_insert', { a: 'x\n1\n2\n3\ny\n' }, [1, 5]],
    ['edit_delete', { a: '1\n3\n' }, [2]],
    ['edit_replace', { a: '1\ntwo\n3\n' }, [2]],
    ['file_create', { 'new/file': '1\n' }, [1]],
    ['file_delete', { a: null }, []],
    ['file_rename', { 'dir/a': null, 'dir/b': '1\n2\n3\n4\n' }, []],
    ['file_move', { 'dir/a': null, 'other/a': '1\n2\n3\n4\n' }, []],
  ] as const)('tells %s from the others', async (action, files, affected) => {
    const work = shared();
    await work.fresh({ a: '1\n2\n3\n', 'dir/a': '1\n2\n3\n4\n' });
    const { events } = await edited(files);
    expect(events).toHaveLength(1);
    const told = line(work, events[0]);
    expect([told.action_type, told.affected_lines]).toEqual([action, affected]);
  });

  it('tells the same of what nobody announced, one line a file', async () => {
    const work = shared();
    await work.fresh({ a: '1\n2\n', b: '1\n2\n', c: '1\n', d: '1\n', e: 'moved\n' });
    const { seq: last } = lines(work).at(-1) ?? { seq: 0 };
    work.put({ a: '1\n2\n3\n', b: '1\n', c: 'x\n', n: 'new\n' });
    renameSync(work.at('e'), work.at('f'));
    chmodSync(work.at('d'), 0o755);
    await work.save('taken in');
    const told = lines(work)
      .filter(({ seq, by }) => seq > last && by === 'unknown')
      .map(({ action_type: type, files }) => [files.join('>'), type]);
    expect(Object.fromEntries(told)).toEqual({
      a: 'edit_insert',
      b: 'edit_delete',
      c: 'edit_replace',
      d: 'mode_change',
      n: 'file_create',
      'e>f': 'file_rename',
    });
  });

  it('never mixes kinds when it tells of many files', async () => {
    const work = shared();
    const many = Array.from({ length: 20 }, (_, number) => `${number}`);
    const all = (content: (name: string) => string) =>
      Object.fromEntries(many.map((name) => [`f${name}`, content(name)]));
    await work.fresh({ ...all((name) => `${name}\n`), old: 'of its own\n' });
    const { seq: last } = lines(work).at(-1) ?? { seq: 0 };
    work.put(all((name) => `${name} again\n`));
    renameSync(work.at('old'), work.at('new'));
    await work.save('taken in');
    const told = lines(work).filter(({ seq, by }) => seq > last && by === 'unknown');
    expect(told.map(({ action_type: type, files }) => [type, files.length])).toEqual([
      ['edit_replace', 20],
      ['file_rename', 2],
    ]);
  });

  it('tells of restored files what became of them', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1\n' });
    const { events } = await edited({ a: '1\n2\n' });
    await work.restore(first);
    const told = lines(work).findLast(({ restored }) => restored === true);
    expect(told).toMatchObject({ action_type: 'edit_delete', files: ['a'], affected_lines: [2] });
    expect(told?.seq).toBeGreaterThan(line(work, events[0]).seq);
  });
});

describe('the patch of an event', () => {
  const shared = sharedWork();

  const patchAt = (work: Work, { diff_path: path }: Line): string =>
    work.project.path(path ?? 'none');

  async function patched(work: Work, told: Line): Promise<string> {
    await until(`${told.id} has a patch`, () => existsSync(patchAt(work, told)));
    return readFileSync(patchAt(work, told), 'latin1');
  }

  async function edit(work: Work, files: Readonly<Record<string, string | Buffer | null>>) {
    const started = await editing(work).start(Object.keys(files));
    work.put(files);
    const { events } = await editing(work).finalize(started);
    return events.map((id) => line(work, id));
  }

  it('is what leads from before to after, for git as well', async () => {
    const work = shared();
    const latin = Buffer.from('caf\xe9\n', 'latin1');
    await work.fresh({ a: '1\n2\n3\n', b: latin });
    const told = await edit(work, {
      a: '1\ntwo\n3\n',
      b: Buffer.concat([latin, latin]),
      'new/c': 'c\n',
    });
    expect(told).toHaveLength(3);
    const patches = await Promise.all(told.map((one) => patched(work, one)));
    expect(patches[0]).toContain('-2\n+two\n');
    const now = work.disk();
    work.put({ a: '1\n2\n3\n', b: latin, new: null });
    git(work.root, ['apply', '-'], Buffer.from(patches.join(''), 'latin1'));
    expect(work.disk()).toEqual(now);
    rmSync(join(work.root, '.git'), { recursive: true, force: true });
  });

  it('names what is no text or too long for one', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const [binary] = await edit(work, { bin: Buffer.from([0, 1, 2, 0]) });
    const [long] = await edit(work, { long: 'line\n'.repeat(300_000) });
    if (binary === undefined || long === undefined) throw new Error('no events');
    expect(await patched(work, binary)).toContain('Binary files /dev/null and b/bin differ');
    expect(await patched(work, long)).toBe('# not shown: "long"\n');
  });

  it('is made again when the daemon ended before it was written', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const [first] = await edit(work, { a: '2\n' });
    if (first === undefined) throw new Error('no event');
    const before = await patched(work, first);
    const [second] = await edit(work, { a: '3\n' });
    if (second === undefined) throw new Error('no event');
    await patched(work, second);
    rmSync(patchAt(work, first));
    rmSync(patchAt(work, second));
    await work.project.cli(['stop']);
    await work.project.startDaemon();
    expect(await patched(work, first)).toBe(before);
    await patched(work, second);
  });
});
