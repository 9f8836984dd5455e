import { chmodSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { until } from '../support/until.js';
import { git, Work } from '../support/work.js';

const newProject = projectsPerTest();

interface Verified {
  readonly ok: boolean;
  readonly files: number;
  readonly damaged: readonly { readonly file: string; readonly detail: string }[];
}

/** Two dialogs, edits, a bookmark, patches; stopped, and the ledger in two files. */
async function settledProject(): Promise<Project> {
  const project = newProject();
  const work = await Work.start(project);
  await work.fresh({ a: '0\n', 'sub/b': 'b\n' });
  work.put({ a: '1\n' });
  await work.call('user_message', { content: 'hello' });
  for (const text of ['one\n', 'two\n', 'three\n']) {
    const { edit_id: id } = await work.call<{ edit_id: string }>('start_edit', { files: ['a'] });
    work.put({ a: text });
    await work.call('finalize_edit', { edit_id: id });
  }
  await work.call('approve');
  await work.call('bookmark_add', { name: 'here' });
  await work.call('create_file_checkpoint', { files: ['a'] });
  // Left out by the rules, so that it is noted as edited.
  const { edit_id: left } = await work.call<{ edit_id: string }>('start_edit', {
    files: ['node_modules/c.js'],
  });
  work.put({ 'node_modules/c.js': 'c\n' });
  await work.call('finalize_edit', { edit_id: left });
  // What changes are inside of is kept when somebody asked for it.
  await work.call('history', { limit: 100 });
  await until('there are patches', () => patchesOf(project).length >= 3);
  await project.cli(['stop']);
  splitLedger(project);
  return project;
}

function patchesOf(project: Project): string[] {
  try {
    return readdirSync(project.path('ledger/diffs')).filter((name) => name.endsWith('.patch'));
  } catch {
    return [];
  }
}

/** What a daemon does when a file is full. */
function splitLedger(project: Project): void {
  const active = project.path('ledger/events.jsonl');
  const bytes = readFileSync(active);
  const lines = bytes.toString().trimEnd().split('\n');
  // Not within a group.
  const end = lines.findIndex((line, at) => at >= lines.length - 5 && line.includes('"more":0'));
  const at = Buffer.byteLength(`${lines.slice(0, end + 1).join('\n')}\n`);
  renameSync(active, project.path('ledger/events-000001.jsonl'));
  writeFileSync(project.path('ledger/events-000001.jsonl'), bytes.subarray(0, at));
  writeFileSync(active, bytes.subarray(at), { mode: 0o600 });
}

async function verify(project: Project): Promise<Verified & { readonly code: number | null }> {
  const { code, stdout } = await project.cli(['--json', 'verify']);
  return { ...(JSON.parse(stdout) as Verified), code };
}

const status = (project: Project): Promise<{ readonly warnings: readonly string[] }> =>
  project.json(['status']);

function flip(path: string, at = Math.floor(statSync(path).size / 2)): Buffer {
  const bytes = readFileSync(path);
  const spoilt = Buffer.from(bytes);
  spoilt[at] = (spoilt[at] ?? 0) ^ 1;
  chmodSync(path, 0o600);
  writeFileSync(path, spoilt);
  return bytes;
}

function filesIn(project: Project, folder: string, end: string): string[] {
  return readdirSync(project.path(folder))
    .filter((name) => name.endsWith(end))
    .map((name) => join(folder, name));
}

/** Four bytes of what a pack has of an object, while everybody may have the file open. */
function damage(project: Project, object: string): void {
  for (const index of filesIn(project, 'store/objects/pack', '.idx')) {
    const path = project.path(index);
    const found = git(project.root, ['verify-pack', '-v', path]).split('\n');
    const line = found.find((one) => one.startsWith(object));
    if (line === undefined) continue;
    const pack = path.replace(/idx$/u, 'pack');
    chmodSync(pack, 0o600);
    const file = openSync(pack, 'r+');
    writeSync(file, Buffer.alloc(4, 0xff), 0, 4, Number(line.split(/\s+/u)[4]) + 4);
    closeSync(file);
  }
}

describe('verify', () => {
  it('finds nothing wrong with what a daemon wrote', async () => {
    const project = await settledProject();
    expect(await verify(project)).toMatchObject({ ok: true, damaged: [], code: 0 });
    const { files } = await verify(project);
    expect(files).toBeGreaterThan(12);
    const { stdout } = await project.cli(['verify']);
    expect(stdout).toBe(`All ${files} files are what was written.\n`);
    expect((await status(project)).warnings).toEqual([]);
    await project.cli(['stop']);
    const { checks } = await project.json<{ checks: { name: string; ok: boolean }[] }>(['doctor']);
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('names the file of every class in which a byte was flipped, and the daemon works on', async () => {
    const project = await settledProject();
    // Written by a start and by a stop.
    await verify(project);
    const [dialog = ''] = readdirSync(project.path('dialogs')).filter((name) => name.length === 26);
    const subjects = [
      'ledger/events-000001.jsonl',
      'ledger/events.jsonl',
      'ledger/segments.bin',
      'ledger/derived.jsonl',
      'ledger/index.bin',
      ...filesIn(project, 'ledger/diffs', '.patch').slice(-1),
      ...filesIn(project, 'store/objects/pack', '.pack').slice(0, 1),
      ...filesIn(project, 'store/objects/pack', '.idx').slice(0, 1),
      `dialogs/${dialog}/checkpoints/.git/refs/heads/session_1`,
      `dialogs/${dialog}/journal.sqlite`,
      'known.bin',
      'root.json',
      'edited.json',
      'file-checkpoints.json',
      'ledger/bookmarks.json',
      ...filesIn(project, 'ledger/blocks', '.jsonl').slice(0, 1),
      'dialogs/index.json',
      `dialogs/${dialog}/checkpoints/metadata.json`,
    ];
    for (const subject of subjects) {
      await verify(project);
      const path = project.path(subject);
      // Elsewhere a byte may be in the free part of a page.
      const inRow = readFileSync(path).indexOf('hello');
      const before = flip(path, subject.endsWith('sqlite') ? inRow : undefined);
      const { ok, damaged, code } = await verify(project);
      expect([subject, ok, code]).toEqual([subject, false, 74]);
      expect(damaged.map(({ file }) => file)).toContain(subject);
      expect((await project.cli(['status'])).code).toBe(0);
      writeFileSync(path, before);
      await project.cli(['stop']);
    }
    expect((await verify(project)).damaged).toEqual([]);
  }, 180_000);

  it('agrees with every call that meets a damaged pack: it is the store, and not the disk', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.fresh({ a: '0\n' });
    work.put({ a: '1\n' });
    const { commit_id: tip } = await work.save('to be damaged');
    damage(project, await work.treeId(tip));
    work.put({ a: '2\n' });
    for (const [method, params] of [
      ['show', { at: tip, path: 'a' }],
      ['restore', { checkpoint_id: tip }],
      ['undo', {}],
      ['diff', { from: tip, to: 'worktree' }],
    ] as const) {
      const { data } = await work.refusal(method, params);
      expect(data).toMatchObject({ code: 'STORE_CORRUPT' });
      expect(data['hint']).toContain('smithyd doctor');
    }
    expect((await verify(project)).ok).toBe(false);
  });

  it('is not asked in vain after a start with a damaged file: that one opens or says why', async () => {
    const project = await settledProject();
    const [dialog = ''] = readdirSync(project.path('dialogs')).filter((name) => name.length === 26);
    const subjects = [
      'ledger/events-000001.jsonl',
      'ledger/segments.bin',
      'ledger/derived.jsonl',
      'ledger/index.bin',
      `dialogs/${dialog}/checkpoints/.git/refs/heads/main`,
      `dialogs/${dialog}/journal.sqlite`,
    ];
    for (const subject of subjects) {
      await verify(project);
      await project.cli(['stop']);
      const before = flip(project.path(subject));
      const { code, stderr } = await project.cli(['history']);
      expect([subject, code, stderr]).toEqual([subject, 0, '']);
      if (!subject.includes('events')) continue;
      expect(await verify(project)).toMatchObject({ ok: false, code: 74 });
      await project.cli(['stop']);
      writeFileSync(project.path(subject), before);
    }
  });

  it('brings a branch back whose file is no id any more, and says so', async () => {
    const project = await settledProject();
    const [dialog = ''] = readdirSync(project.path('dialogs')).filter((name) => name.length === 26);
    for (const branch of ['main', 'session_2']) {
      const path = project.path(`dialogs/${dialog}/checkpoints/.git/refs/heads/${branch}`);
      const before = readFileSync(path, 'utf8');
      writeFileSync(path, `g${before.slice(1)}`);
      const { code, stderr } = await project.cli(['history']);
      expect([branch, code, stderr]).toEqual([branch, 0, '']);
      expect(readFileSync(path, 'utf8')).toBe(before);
      const { warnings } = await status(project);
      expect(warnings.join()).toContain(`The branch ${branch} was not where the ledger has it`);
      await project.cli(['stop']);
    }
    expect(await verify(project)).toMatchObject({ ok: true });
  });
});

describe('doctor', () => {
  it('finds and mends what is put aside and patches that are not what they should be', async () => {
    const project = await settledProject();
    await project.json(['status']);
    const patch = filesIn(project, 'ledger/diffs', '.patch').at(-1) ?? '';
    const bytes = flip(project.path(patch));
    flip(project.path('ledger/derived.jsonl'));
    interface Doctor {
      readonly checks: { name: string; ok: boolean; detail: string; repaired?: boolean }[];
    }
    const failed = JSON.parse((await project.cli(['--json', 'doctor'])).stdout) as Doctor;
    const wrong = failed.checks.filter(({ ok }) => !ok);
    expect(wrong.map(({ name }) => name)).toEqual(['derived', 'patches']);
    expect(wrong[0]?.detail).toContain('ledger/derived.jsonl');
    expect(wrong[1]?.detail).toContain(patch);
    const { checks } = await project.json<Doctor>(['doctor', '--repair']);
    expect(checks.filter(({ repaired }) => repaired === true)).toHaveLength(2);
    expect(readFileSync(project.path(patch))).toEqual(bytes);
    expect(await verify(project)).toMatchObject({ ok: true });
  });
});

describe('patches that a power cut left empty', () => {
  it('are made again by the next start, the newest ones', async () => {
    const project = await settledProject();
    const paths = filesIn(project, 'ledger/diffs', '.patch').sort().slice(-2);
    const before = paths.map((path) => readFileSync(project.path(path), 'utf8'));
    for (const path of paths) truncateSync(project.path(path));
    await project.json(['history']);
    await until('they are whole', () => {
      const found = paths.map((path) => readFileSync(project.path(path), 'utf8'));
      return found.every((text, at) => text === before[at]);
    });
  });
});

describe('a ledger that was cut while no daemon ran', () => {
  it('80: opens, loses at most the torn line and says so, whatever byte of the last three lines', async () => {
    const project = await settledProject();
    const active = project.path('ledger/events.jsonl');
    const whole = readFileSync(active);
    const ends = [...whole.toString().matchAll(/\n/gu)].map(({ index }) => index + 1);
    const from = ends.at(-4) ?? 0;
    const history = async () => {
      const { events } = await project.json<{ events: { id: string }[] }>([
        ...['history', '--limit', '1000'],
      ]);
      return events.length;
    };
    const all = await history();
    await project.cli(['stop']);
    // Every byte is tried with the ledger alone; a whole daemon at some of them.
    const sizes = new Set<number>();
    for (let at = from + 1; at < whole.length; at += 997) sizes.add(at);
    // Both ends of each line: its first byte, its last one, and without the end of the line.
    for (const end of ends.slice(-3)) for (const less of [1, 2]) sizes.add(end - less);
    for (const end of ends.slice(-4, -1)) for (const more of [0, 1]) sizes.add(end + more);
    for (const at of sizes) {
      writeFileSync(active, whole);
      truncateSync(active, at);
      const kept = ends.filter((end) => end <= at).length;
      // A start may have to write again what the lost lines said.
      expect(await history()).toBeGreaterThanOrEqual(all - (ends.length - kept));
      const log = readFileSync(project.path('run/daemon.log'), 'utf8');
      const said = [...log.matchAll(/"cutBytes":(\d+)/gu)].at(-1)?.[1];
      const torn = at - (ends[kept - 1] ?? 0);
      // A group goes as a whole.
      if (torn > 0) expect(Number(said)).toBeGreaterThanOrEqual(torn);
      await project.cli(['stop']);
    }
  });
});
