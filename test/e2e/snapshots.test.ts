import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createArchives } from '../../src/archive/archives.js';
import type { ArchivedFile } from '../../src/core/archive.js';
import { newProject, temporaryFolder, type Project } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { isAlive, signal } from '../support/processes.js';
import { until } from '../support/until.js';
import { git, sharedWork, Work } from '../support/work.js';

interface Manifest {
  readonly id: string;
  readonly name: string | null;
  readonly reason: string;
  readonly base_event_id: string;
  readonly tar_uri: string | null;
  readonly commit_id: string;
  readonly env: Readonly<Record<string, string | null>>;
  readonly seeds: object;
  readonly tools: Readonly<Record<string, string>>;
  readonly hashes: Readonly<Record<string, string>>;
}

interface Exported {
  readonly id: string;
  readonly to: string;
  readonly bytes: number;
  readonly files: number;
}

const save = (work: Work, more: object = {}): Promise<Manifest> => work.call('snapshot_save', more);
const code = async (work: Work, method: string, params: object) =>
  (await work.refusal(method, params)).data['code'];
const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const content = async (work: Work, at: string, path: string) =>
  (await work.call<{ content: string }>('show', { at, path })).content;

async function list(work: Work): Promise<readonly Manifest[]> {
  return (await work.call<{ snapshots: Manifest[] }>('snapshot_list')).snapshots;
}

/** The newest one, once there are more than so many. */
async function nextAfter(work: Work, count: number): Promise<Manifest> {
  return until(`there are more than ${count} snapshots`, async () => {
    const all = await list(work);
    return all.length > count ? all.at(-1) : undefined;
  });
}

async function edited(work: Work, files: Readonly<Record<string, string | null>>) {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files));
  work.put(files);
  return (await edit.finalize(started)).events.at(-1) ?? '';
}

async function killed(work: Work): Promise<Work> {
  const pid = work.project.daemonFile()?.pid ?? 0;
  signal(pid, 'SIGKILL');
  await until('the daemon has ended', () => !isAlive(pid));
  return Work.start(work.project);
}

describe('a snapshot', () => {
  const shared = sharedWork();

  it('holds the whole project with its manifest, and no dialog moves', async () => {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: '0\n', 'dir/b': 'b\n' });
    await edited(work, { a: '1\n' });
    work.put({ c: 'nobody told\n' });
    const branches = () => git(work.checkpoints(dialog), ['for-each-ref']);
    const before = branches();
    const saved = await save(work, {
      name: 'first one',
      env: { llm: 'm-1' },
      seeds: { global: 42 },
      tools: { black: '24.1' },
    });
    expect(saved).toMatchObject({
      id: expect.stringMatching(/^snap-\d{4}$/u),
      name: 'first one',
      reason: 'manual',
      tar_uri: null,
      env: { llm: 'm-1', os: expect.stringContaining('linux'), python: null },
      seeds: { global: 42 },
      tools: { black: '24.1', smithyd: expect.any(String) },
      hashes: { a: digest('1\n'), 'dir/b': digest('b\n'), c: digest('nobody told\n') },
    });
    expect(Object.keys(saved.hashes)).toHaveLength(3);
    expect(branches()).toBe(before);
    const { events } = await work.call<{ events: Record<string, unknown>[] }>('history', {
      action_type: 'snapshot_create',
      limit: 1,
    });
    expect(events[0]).toMatchObject({ snapshot_ref: saved.id });
    const kept = git(work.project.path('store/kept'), ['show', `${saved.id}:c`]);
    expect(kept).toBe('nobody told\n');
    expect(await work.call<Manifest>('snapshot_show', { id: 'first one' })).toEqual(saved);
    const changed = await work.call<{ unknownChanges: object[] }>('detect_unknown_modifications');
    expect(changed.unknownChanges).toHaveLength(1);
  });

  it('can be shown, compared, gone back to and given a name', async () => {
    const work = shared();
    await work.fresh({ a: '0\n', b: 'b\n' });
    const { id } = await save(work);
    work.put({ a: '1\n', b: null, c: 'new\n' });
    const { id: later } = await save(work);
    expect(await content(work, id, 'a')).toBe('0\n');
    const { text } = await work.call<{ text: string }>('diff', {
      from: id,
      to: later,
      format: 'name_status',
    });
    expect(text).toBe('M\ta\nD\tb\nA\tc\n');
    await work.call('bookmark_add', { name: 'kept', snapshot: id });
    const { session } = await work.call<{ session: string }>('rewind', { target: id });
    expect(session).toBe('session_2');
    expect(work.disk()).toEqual({ a: 'file 0\n', b: 'file b\n' });
    await work.restore(later);
    expect(work.disk()).toEqual({ a: 'file 1\n', c: 'file new\n' });
    const { bookmarks } = await work.call<{ bookmarks: object }>('bookmark_list');
    expect(bookmarks).toEqual({ kept: id });
    expect(await code(work, 'bookmark_add', { name: 'x', snapshot: 'snap-9999' })).toBe(
      'SNAPSHOT_NOT_FOUND',
    );
    expect(await code(work, 'rewind', { target: 'snap-9999' })).toBe('SNAPSHOT_NOT_FOUND');
    expect(await code(work, 'snapshot_show', { id: 'none' })).toBe('SNAPSHOT_NOT_FOUND');
    await work.call('bookmark_remove', { name: 'kept' });
  });

  it('is meant by its name wherever a checkpoint could be, the newest of that name', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    await save(work, { name: 'v1' });
    work.put({ a: '1\n' });
    await save(work, { name: 'v1' });
    await save(work, { name: first.slice(0, 8) });
    work.put({ a: '2\n' });
    expect(await content(work, 'v1', 'a')).toBe('1\n');
    const { text } = await work.call<{ text: string }>('diff', { from: 'v1' });
    expect(text).toContain('-1\n+2\n');
    await work.restore('v1');
    expect(work.read('a')).toBe('1\n');
    // An id that was told keeps its meaning.
    await work.call('rewind', { target: first.slice(0, 8) });
    expect(work.read('a')).toBe('0\n');
    await work.call('rewind', { target: 'v1' });
    expect(work.read('a')).toBe('1\n');
    const { data } = await work.refusal('restore', { checkpoint_id: 'v11' });
    expect(data).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND', near: ['v1'] });
    await work.call('rewind', { target: 'main' });
    expect(work.read('a')).toBe('0\n');
  });

  it('is a command', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    expect(await say('snapshot', 'save', 'by hand')).toMatch(
      /^Saved 1 file as snap-\d{4} \(by hand\)\.\n$/u,
    );
    expect(await say('snapshot', 'list')).toMatch(/snap-\d{4} .* manual .*by hand\n$/u);
  });

  it('outlives its dialog and a kill', async () => {
    let work = shared();
    const { dialog_id: dialog } = await work.fresh({ a: 'of the old dialog\n' });
    const saved = await save(work);
    const all = await list(work);
    await work.fresh({ a: 'another\n' });
    await work.call('delete_dialog', { dialog_id: dialog });
    work = await killed(work);
    expect((await list(work)).slice(0, all.length)).toEqual(all);
    expect(await content(work, saved.id, 'a')).toBe('of the old dialog\n');
    expect(await work.call<Manifest>('snapshot_show', { id: saved.id })).toEqual(saved);
    expect((await save(work)).id > saved.id).toBe(true);
    expect((await work.call<{ ok: boolean }>('doctor')).ok).toBe(true);
  });
});

describe('an exported snapshot', () => {
  const shared = sharedWork();

  it('is a tar.zst that tar reads, and becomes a snapshot again', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n', 'dir/b': 'b\n', näme: 'n\n', large: 'x'.repeat(3_000_000) });
    chmodSync(work.at('dir/b'), 0o755);
    symlinkSync('dir/b', work.at('link'));
    mkdirSync(work.at('hollow'));
    const disk = work.disk();
    const saved = await save(work, { name: 'to go', seeds: { global: 7 } });
    const to = `${work.project.folder}-out.tar.zst`;
    try {
      const out = await work.call<Exported>('snapshot_export', { id: saved.id, to });
      expect(out).toMatchObject({ id: saved.id, to, files: 5 });
      expect(statSync(to).size).toBe(out.bytes);
      expect((await list(work)).at(-1)).toMatchObject({ id: saved.id, tar_uri: to });
      const listed = spawnSync('tar', ['--zstd', '-tf', to], { encoding: 'utf8' });
      if (listed.status === 0) expect(listed.stdout).toContain('manifest.json\nfiles/a\n');
      const again = await work.call<Manifest>('snapshot_import', { from: to });
      expect(again).toMatchObject({ reason: 'import', name: 'to go', seeds: { global: 7 } });
      expect(again.id > saved.id).toBe(true);
      expect(again.hashes).toEqual(saved.hashes);
      const kept = work.project.path('store/kept');
      const treeOf = (id: string) => git(kept, ['rev-parse', `${id}^{tree}`]);
      expect(treeOf(again.id)).toBe(treeOf(saved.id));
      work.put({ a: 'changed\n', 'dir/b': null, hollow: null });
      await work.restore(again.id);
      expect(work.disk()).toEqual(disk);
      expect(await code(work, 'snapshot_export', { id: saved.id, to })).toBe('NAME_TAKEN');
    } finally {
      rmSync(to, { force: true });
    }
  });

  it('is refused where it cannot be written or read', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const { id } = await save(work);
    const exported = (to: string) => code(work, 'snapshot_export', { id, to });
    expect(await exported('.agentsmithy/x.tar.zst')).toBe('PATH_PROTECTED');
    expect(await exported('no/such/folder/x.tar.zst')).toBe('PATH_UNSUPPORTED');
    expect(await code(work, 'snapshot_export', { id: 'snap-9999', to: '/tmp/x' })).toBe(
      'SNAPSHOT_NOT_FOUND',
    );
    expect(await code(work, 'snapshot_import', { from: 'a' })).toBe('STORE_CORRUPT');
    expect(await code(work, 'snapshot_import', { from: 'none' })).toBe('PATH_UNSUPPORTED');
  });

  it.each<[string, { path: string; target?: string; refusal: string }]>([
    ['climbs out', { path: '../x', refusal: 'PATH_OUTSIDE_ROOT' }],
    ['is absolute', { path: '/etc/x', refusal: 'PATH_OUTSIDE_ROOT' }],
    ['is in .git', { path: '.git/hooks/x', refusal: 'PATH_PROTECTED' }],
    ['is not plain', { path: 'a//b', refusal: 'STORE_CORRUPT' }],
    ['is a link out', { path: 'l', target: '/etc/passwd', refusal: 'PATH_OUTSIDE_ROOT' }],
    ['is a link up', { path: 'd/l', target: '../../x', refusal: 'PATH_OUTSIDE_ROOT' }],
  ])('is refused with a file that %s', async (_, { path, target, refusal }) => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const { length: count } = await list(work);
    const from = await hostile(work, { path, target, isTrue: true });
    expect(await code(work, 'snapshot_import', { from })).toBe(refusal);
    expect(await list(work)).toHaveLength(count);
    expect(readdirSync(work.project.path()).filter((name) => name.startsWith('import-'))).toEqual(
      [],
    );
  });

  it('is refused when a file is not what the manifest says, and takes links out when told to', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const wrong = await hostile(work, { path: 'x', isTrue: false });
    expect(await code(work, 'snapshot_import', { from: wrong })).toBe('STORE_CORRUPT');
    const out = await hostile(work, { path: 'l', target: '/etc/passwd', isTrue: true });
    const taken = await work.call<Manifest>('snapshot_import', {
      from: out,
      allow_links_out: true,
    });
    expect(await content(work, taken.id, 'l')).toBe('/etc/passwd');
  });

  it('of more than a thousand new files leaves none of them open', async () => {
    const work = shared();
    await work.fresh();
    const texts = Array.from({ length: 1_200 }, (_, number) => `${number} of many\n`);
    const files = texts.map((text, number): ArchivedFile => {
      return { path: `f${number}`, mode: '100644', content: Buffer.from(text) };
    });
    const hashes = Object.fromEntries(texts.map((text, number) => [`f${number}`, digest(text)]));
    const from = await archived(work, files, hashes);
    const taken = await work.call<Manifest>('snapshot_import', { from });
    expect(taken.hashes).toEqual(hashes);
    const open = `/proc/${work.project.daemonFile()?.pid ?? 0}/fd`;
    expect(readdirSync(open).length).toBeLessThan(texts.length);
  });

  it('is written to and read from where the command is given', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const { id } = await save(work);
    const elsewhere = temporaryFolder();
    try {
      const out = await work.project.cli(['snapshot', 'export', id, 'x.tar.zst'], {
        cwd: elsewhere,
      });
      expect(out.stdout).toContain(`to ${elsewhere}/x.tar.zst`);
      expect(readdirSync(elsewhere)).toEqual(['x.tar.zst']);
      const back = await work.project.cli(['snapshot', 'import', './x.tar.zst'], {
        cwd: elsewhere,
      });
      expect(back.stdout).toMatch(/^Saved 1 file as snap-\d{4}/u);
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it('is a command, and still there after a kill', async () => {
    let work = shared();
    await work.fresh({ a: 'a\n' });
    const { id } = await save(work);
    const to = work.at('.out.tar.zst');
    const say = async (...words: string[]) => (await work.project.cli(words)).stdout;
    expect(await say('snapshot', 'export', id, to)).toContain(`Wrote 1 file of ${id} to ${to}`);
    work = await killed(work);
    expect(await say('snapshot', 'import', to)).toMatch(/^Saved 1 file as snap-\d{4}/u);
    const [exported, imported] = (await list(work)).slice(-2);
    expect(exported).toMatchObject({ id, tar_uri: to });
    expect(await content(work, imported?.id ?? '', 'a')).toBe('a\n');
  });

  it('can be the first thing that a daemon is started for, here and in a new project', async () => {
    const here = newProject();
    const elsewhere = newProject();
    const to = `${here.folder}.tar.zst`;
    writeFileSync(join(here.root, 'a'), 'a\n');
    const ok = async (project: Project, ...words: string[]) => {
      const { code, stdout, stderr } = await project.cli(words);
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
      return stdout;
    };
    try {
      await ok(here, 'snapshot', 'save');
      await ok(here, 'snapshot', 'export', 'snap-0001', to);
      await ok(here, 'stop');
      for (const project of [here, elsewhere]) {
        expect(await ok(project, 'snapshot', 'import', to)).toMatch(/^Saved 1 file as snap-\d{4}/u);
      }
    } finally {
      rmSync(to, { force: true });
      for (const project of [here, elsewhere]) await project.remove();
    }
  });
});

/** An archive that nobody would make with good intentions. */
function hostile(
  work: Work,
  { path, target, isTrue }: { path: string; target?: string | undefined; isTrue: boolean },
): Promise<string> {
  const content = target ?? 'content\n';
  const mode = target === undefined ? '100644' : '120000';
  const hashes = { [path]: digest(isTrue ? content : 'other') };
  return archived(work, [{ path, mode, content: Buffer.from(content) }], hashes);
}

async function archived(
  work: Work,
  given: readonly ArchivedFile[],
  hashes: Readonly<Record<string, string>>,
): Promise<string> {
  const to = work.at(`.archive-${randomUUID()}`);
  const manifest = {
    ...{ format: 1, id: 'snap-0001', ts: '', name: null, base_event_id: '' },
    ...{ env: {}, seeds: {}, tools: {}, empty_folders: [], hashes },
  };
  const files = async function* (): AsyncGenerator<ArchivedFile> {
    for (const file of given) yield await Promise.resolve(file);
  };
  await createArchives(work.project.path()).write(to, { manifest, files: files() });
  return to;
}

describe('snapshots by themselves', () => {
  const shared = sharedWork();

  it('are made after an approval, a rewind and an evaluation', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    let count = (await list(work)).length;
    const expected = async (reason: string, at: string): Promise<void> => {
      const made = await nextAfter(work, count++);
      expect(made.reason).toBe(reason);
      expect(await content(work, made.id, 'a')).toBe(at);
    };
    await edited(work, { a: '1\n' });
    await work.call('approve');
    await expected('approve', '1\n');
    await work.call('rewind', { target: first });
    await expected('branch', '0\n');
    await edited(work, { a: '2\n' });
    await work.call('record_eval', { name: 'bench' });
    await expected('eval', '2\n');
  });

  it('are made after so many events and bytes of patches', async () => {
    const work = shared();
    await work.fresh({ a: '0\n' });
    const { length: count } = await list(work);
    await work.call('update_config', { snapshots: { everyEvents: 3 } });
    for (const text of ['1\n', '2\n']) await edited(work, { a: text });
    expect(await list(work)).toHaveLength(count);
    await edited(work, { a: '3\n' });
    const made = await nextAfter(work, count);
    expect(made.reason).toBe('events');
    expect(await content(work, made.id, 'a')).toBe('3\n');
    await work.call('update_config', { snapshots: { everyEvents: 80, everyPatchBytes: 2000 } });
    await edited(work, { a: 'long line\n'.repeat(1000) });
    const { id, reason } = await nextAfter(work, count + 1);
    expect(reason).toBe('bytes');
    expect(await content(work, id, 'a')).toBe('long line\n'.repeat(1000));
  });

  it('are made by the next daemon when the last one was killed before', async () => {
    let work = shared();
    await work.fresh({ a: '0\n' });
    const { length: count } = await list(work);
    await edited(work, { a: 'before the kill\n' });
    await work.call('record_eval', { name: 'cut off' });
    work = await killed(work);
    const made = await nextAfter(work, count);
    expect(made.reason).toBe('eval');
    expect(await content(work, made.id, 'a')).toBe('before the kill\n');
  });
});
