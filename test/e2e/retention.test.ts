import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { isAlive, signal } from '../support/processes.js';
import { until } from '../support/until.js';
import { git, sharedWork, Work } from '../support/work.js';

interface Collected {
  readonly dry_run: boolean;
  readonly freed_bytes: number;
  readonly removed: {
    readonly snapshots: readonly string[];
    readonly file_checkpoints: readonly string[];
  };
  readonly kept: {
    readonly events: number;
    readonly sessions: object;
    readonly snapshots: Readonly<Record<string, number>>;
    readonly over_limit_bytes: number;
    readonly store_bytes: number;
  };
  readonly warnings: readonly string[];
}

const gc = (work: Work, more: object = {}): Promise<Collected> => work.call('gc', more);
const list = async (work: Work): Promise<string[]> =>
  (await work.call<{ snapshots: { id: string }[] }>('snapshot_list')).snapshots.map(({ id }) => id);
const branches = (work: Work): string[] =>
  git(work.project.path('store/kept'), ['for-each-ref', '--format=%(refname:short)'])
    .split('\n')
    .filter((name) => name.startsWith('snap-'));

async function shots(work: Work, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    work.put({ a: `state ${number}\n`, [`only-${number}`]: `${number}`.repeat(3000) });
    await work.call('snapshot_save');
    work.put({ [`only-${number}`]: null });
  }
}

async function restarted(work: Work): Promise<Work> {
  const pid = work.project.daemonFile()?.pid ?? 0;
  signal(pid, 'SIGKILL');
  await until('the daemon has ended', () => !isAlive(pid));
  return Work.start(work.project);
}

describe('gc', () => {
  const projects = projectsPerTest();

  it('85, 86: tells beforehand exactly what goes, and then removes exactly that', async () => {
    const work = await Work.start(projects());
    await work.fresh({ a: '0\n' });
    await work.call('user_message', { content: 'go' });
    await shots(work, 25);
    await work.call('bookmark_add', { name: 'third', snapshot: 'snap-0003' });
    await work.call('reset');
    const { checkpoints: before } = await work.call<{ checkpoints: object[] }>('list_checkpoints');
    const files = git(work.project.path('store/kept'), ['for-each-ref']);
    const dry = await gc(work, { dry_run: true });
    expect(git(work.project.path('store/kept'), ['for-each-ref'])).toBe(files);
    expect(await list(work)).toHaveLength(25);
    expect(dry.removed.snapshots).toHaveLength(13);
    expect(dry.kept.snapshots).toMatchObject({ newest: 10, every: 1, bookmarked: 1 });
    expect(dry.kept.sessions).toEqual({ active: 1, merged: 0, abandoned: 1 });
    expect(dry.freed_bytes).toBeGreaterThan(0);

    const done = await gc(work);
    expect(done).toEqual({ ...dry, dry_run: false });
    const left = [
      'snap-0003',
      'snap-0010',
      ...Array.from({ length: 10 }, (_, at) => `snap-00${at + 16}`),
    ];
    expect(await list(work)).toEqual(left);
    expect(branches(work)).toEqual(left);
    const { checkpoints: after } = await work.call<{ checkpoints: object[] }>('list_checkpoints');
    expect(after).toEqual(before);
    expect((await gc(work)).removed.snapshots).toEqual([]);

    const refused = await work.refusal('snapshot_show', { id: 'snap-0004' });
    expect(refused).toMatchObject({ data: { code: 'SNAPSHOT_NOT_FOUND' } });
    expect(refused.message).toContain('thinned out');
    await work.call('restore', { checkpoint_id: 'third' });
    expect(work.read('a')).toBe('state 2\n');
    expect(work.read('only-2')).toBe('2'.repeat(3000));
    expect(await work.call('verify')).toMatchObject({ ok: true });

    // The same after a kill, and after all was read from the ledger's lines again.
    const again = await restarted(work);
    expect(await list(again)).toEqual(left);
    const { checks } = await again.call<{ checks: { name: string; ok: boolean }[] }>('doctor');
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    again.put({ a: 'one more\n' });
    expect(await again.call('snapshot_save')).toMatchObject({ id: 'snap-0026' });
  });

  it('86: removes file checkpoints by their age and what only they held', async () => {
    const work = await Work.start(projects());
    await work.fresh({ a: '0\n' });
    await work.call('update_config', { keepAllCheckpoints: true });
    for (const number of [1, 2, 3]) {
      work.put({ a: `${number}`.repeat(5_000) });
      await work.call('create_file_checkpoint', { files: ['a'] });
    }
    const path = work.project.path('file-checkpoints.json');
    interface Copies {
      readonly content: readonly { readonly id: string; readonly timestamp: string }[];
    }
    const { content: all } = JSON.parse(readFileSync(path, 'utf8')) as Copies;
    // As earlier daemons wrote it, without a sum.
    const old = all.map((one, at) => (at === 0 ? { ...one, timestamp: '2020-01-01' } : one));
    writeFileSync(path, JSON.stringify(old));
    const dry = await gc(work, { dry_run: true });
    expect(dry.removed.file_checkpoints).toEqual([all[0]?.id]);
    expect(dry.kept).toMatchObject({ file_checkpoints: 2 });
    expect(await gc(work)).toEqual({ ...dry, dry_run: false });
    const { content: left } = JSON.parse(readFileSync(path, 'utf8')) as Copies;
    expect(left.map(({ id }) => id)).toEqual(all.slice(1).map(({ id }) => id));
    const loaded = await work.call<{ checkpoint: { files: { a: { content: string } } } }>(
      'load_file_checkpoint',
      { id: all[1]?.id },
    );
    expect(loaded.checkpoint.files.a.content).toBe('2'.repeat(5_000));
  });

  it('85: keeps what an open edit and every event need, and says what is over the limit', async () => {
    const work = await Work.start(projects());
    await work.fresh({ a: 'first\n' });
    const edit = editing(work);
    const done = await edit.start(['a']);
    work.put({ a: 'second\n' });
    const [event = ''] = (await edit.finalize(done)).events;
    const open = await edit.start(['a']);
    work.put({ a: 'third\n' });
    await work.call('update_config', { store: { limitBytes: 100 } });
    const { kept, warnings } = await gc(work);
    expect(kept.over_limit_bytes).toBe(kept.store_bytes - 100);
    expect(kept).toMatchObject({ edits_open: 1 });
    expect(warnings).toEqual([expect.stringContaining('store.limitBytes')]);
    expect(await work.call('status')).toMatchObject({ warnings });
    await work.call('update_config', { store: { limitBytes: 1_000_000_000 } });
    await edit.abort(open);
    expect(work.read('a')).toBe('second\n');
    expect(await work.call('show', { at: event, path: 'a' })).toMatchObject({
      content: 'second\n',
    });
  });

  it('cut off by its client or by a stop leaves everything whole', async () => {
    const work = await Work.start(projects());
    await work.fresh({ a: '0\n' });
    await shots(work, 22);
    const other = await work.project.socket();
    void other.call('gc', {}).catch(() => undefined);
    await work.call('status');
    other.destroy();
    await until('the snapshots are thinned out', async () => (await list(work)).length < 22);
    expect(await work.call('verify')).toMatchObject({ ok: true });
    const stopped = work.answer('gc', {}).catch(() => undefined);
    await work.project.cli(['stop']);
    await stopped;
    const again = await Work.start(work.project);
    expect(await list(again)).toHaveLength(11);
    expect(branches(again)).toHaveLength(11);
    expect(await again.call('verify')).toMatchObject({ ok: true });
  });

  it('is finished by the next start when it was cut off between the line and the branches', async () => {
    const work = await Work.start(projects());
    await work.fresh({ a: '0\n' });
    await shots(work, 12);
    const kept = work.project.path('store/kept');
    const [commit = ''] = git(kept, ['rev-parse', 'snap-0001']).split('\n');
    await gc(work);
    expect(branches(work)).toHaveLength(10);
    await work.project.cli(['stop']);
    // As a kill right after the line would have left it; a commit that is still there.
    const newest = git(kept, ['rev-parse', 'snap-0012']).trim();
    git(kept, ['update-ref', 'refs/heads/snap-0001', newest]);
    expect(commit).not.toBe(newest);
    const again = await Work.start(work.project);
    await list(again);
    expect(branches(again)).toHaveLength(10);
  });
});

describe('without anybody asking', () => {
  const shared = sharedWork();

  it('old automatic snapshots go, and those made by hand stay', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    await work.call('update_config', {
      snapshots: { everyEvents: 1, keepLast: 2, keepEvery: 100 },
    });
    const { id: byHand } = await work.call<{ id: string }>('snapshot_save', { name: 'mine' });
    const edit = editing(work);
    for (let number = 1; number <= 13; number++) {
      const started = await edit.start(['a']);
      work.put({ a: `${number}\n` });
      await edit.finalize(started);
      await until('a snapshot was made', async () => (await list(work)).length > number);
    }
    await until('old ones are gone', async () => (await list(work)).length <= 3);
    expect(await list(work)).toContain(byHand);
  });
});

describe('on the command line', () => {
  const shared = sharedWork();

  it('gc tells what goes in words', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    await shots(work, 12);
    const dry = await work.project.cli(['gc', '--dry-run']);
    expect(dry.stdout).toMatch(/^Would free /u);
    expect(dry.stdout).toContain('2 snapshots: snap-0001, snap-0002');
    const { stdout, code } = await work.project.cli(['gc']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Freed /u);
    expect(stdout).toContain('10 snapshots');
    expect((await work.project.cli(['history', '--limit', '2'])).stdout).toContain('Thinned out 2');
  });
});
