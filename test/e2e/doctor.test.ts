import {
  chmodSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { makeOldDialog, OLD } from '../support/old-dialog.js';
import { isAlive, signal } from '../support/processes.js';
import { request } from '../support/raw-socket.js';
import { until } from '../support/until.js';
import { git, Work } from '../support/work.js';

const newProject = projectsPerTest();

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly repaired?: boolean;
}

const doctor = (work: Work, params: object = {}): Promise<{ ok: boolean; checks: Check[] }> =>
  work.call('doctor', params);

async function checkOf(work: Work, name: string, params: object = {}): Promise<Check> {
  const { checks } = await doctor(work, params);
  const found = checks.find((check) => check.name === name);
  if (found === undefined) throw new Error(`doctor does not check ${name}`);
  return found;
}

/** A project with two dialogs and some history. */
async function worked(project: Project = newProject()): Promise<Work> {
  const work = await Work.start(project);
  await work.fresh({ a: '0', 'sub/b': 'b' });
  work.put({ a: '1' });
  await work.call('user_message', { content: 'hello' });
  const { edit_id: id } = await work.call<{ edit_id: string }>('start_edit', { files: ['a'] });
  work.put({ a: 'edited' });
  await work.call('finalize_edit', { edit_id: id });
  await work.call('approve');
  await work.call('create_dialog', { title: 'second' });
  work.put({ a: '2' });
  await work.save('more');
  return work;
}

/** Changes one byte of a file, wherever its mode stands. */
function spoil(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
}

/** Processes that work in a folder of the project; the children of the store do. */
function processesIn(root: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
    } catch {
      return false;
    }
  });
}

describe('doctor', () => {
  it('finds nothing wrong with what the daemon wrote, and says what it looked at', async () => {
    const work = await worked();
    const { ok, checks } = await doctor(work);
    expect(checks.filter((check) => !check.ok)).toEqual([]);
    expect(ok).toBe(true);
    const details = Object.fromEntries(checks.map(({ name, detail }) => [name, detail]));
    expect(details['ledger']).toMatch(/^\d+ lines, the chain is whole$/u);
    expect(details['store']).toMatch(/^\d+ objects in \d+ packs, nothing is missing$/u);
    expect(details['dialogs']).toContain('2 dialogs');
    expect(details['journals']).toBe('2 of 2 checked, equal to the ledger');
    const { stdout, code } = await work.project.cli(['doctor']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +ledger +\d+ lines, the chain is whole$/mu);
  });

  it('tells how far it is', async () => {
    const work = await worked();
    const listener = await work.project.socket();
    await listener.call('subscribe', { types: ['progress'] });
    await doctor(work);
    await listener.call('status');
    const steps = listener.received.flatMap(({ event }) => (event === undefined ? [] : [event]));
    expect(steps[0]).toMatchObject({ what: 'doctor', step: 'ledger', percent: 0 });
    expect(new Set(steps.map(({ step }) => step))).toEqual(
      new Set(['ledger', 'store', 'dialogs', 'derived', 'patches', 'journals']),
    );
    expect(steps.at(-1)).toMatchObject({ step: 'patches', percent: 100 });
  });

  it('names a line of the ledger that was changed', async () => {
    const work = await worked();
    const file = work.project.path('ledger/events.jsonl');
    const second = readFileSync(file).indexOf('\n') + 40;
    spoil(file, second);
    expect(await checkOf(work, 'ledger')).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/^events\.jsonl, line 2: .*cannot be mended.*still read/u),
    });
  });

  it('sees that the end of the ledger is gone', async () => {
    const work = await worked();
    const file = work.project.path('ledger/events.jsonl');
    const lines = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, lines.slice(0, -2).join('\n'));
    expect(await checkOf(work, 'ledger')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('the end'),
    });
  });

  it('sees a pack whose bytes were changed', async () => {
    const work = await worked();
    const folder = work.project.path('store/objects/pack');
    const packs = readdirSync(folder).filter((name) => name.endsWith('.pack'));
    const [largest = ''] = packs.sort(
      (a, b) => statSync(join(folder, b)).size - statSync(join(folder, a)).size,
    );
    spoil(join(folder, largest), Math.floor(statSync(join(folder, largest)).size / 2));
    const { ok, detail } = await checkOf(work, 'store');
    expect(ok).toBe(false);
    expect(detail).not.toBe('');
    const told = await work.project.cli(['doctor']);
    expect(told.stdout).toMatch(/^FAIL store /mu);
    expect(told.code).toBe(74);
  });

  it('sees objects that are missing', async () => {
    const work = await worked();
    const folder = work.project.path('store/objects/pack');
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { force: true });
    expect((await checkOf(work, 'store')).ok).toBe(false);
  });

  it('sees a branch that somebody moved', async () => {
    const work = await worked();
    const id = await work.current();
    const checkpoints = work.checkpoints(id);
    const first = git(checkpoints, ['rev-parse', 'main']).trim();
    git(checkpoints, ['update-ref', 'refs/heads/session_1', first]);
    expect(await checkOf(work, 'dialogs')).toMatchObject({
      ok: false,
      detail: expect.stringContaining(`session_1 of ${id}`),
    });
  });

  it('sees a journal that is not what the ledger says, and makes it again when asked', async () => {
    const work = await worked();
    const id = await work.current();
    await work.project.cli(['stop']);
    const file = work.project.path('dialogs', id, 'journal.sqlite');
    const database = new Database(file);
    database.exec("UPDATE sessions SET status = 'merged'");
    database.close();
    const again = await Work.start(work.project);
    await again.call('list_dialogs');
    const stop = new Database(file);
    stop.exec("UPDATE sessions SET status = 'abandoned'");
    stop.close();
    const seen = await checkOf(again, 'journals');
    expect(seen).toMatchObject({ ok: false, detail: expect.stringContaining(id) });
    // The look itself has it made again, perhaps before it is asked to.
    expect(await checkOf(again, 'journals', { repair: true })).toMatchObject({ ok: true });
    expect(await checkOf(again, 'journals')).toEqual({
      name: 'journals',
      ok: true,
      detail: '2 of 2 checked, equal to the ledger',
    });
  });

  it('names an old dialog that could not be taken over', async () => {
    const project = newProject();
    makeOldDialog(project, []);
    const work = await Work.start(project);
    await work.call('list_dialogs');
    expect(await checkOf(work, 'old dialogs')).toMatchObject({
      ok: false,
      detail: expect.stringContaining(OLD),
    });
  });

  it('changes nothing of what was saved, and work goes on meanwhile', async () => {
    const work = await worked();
    const other = await work.project.socket();
    const asked = Array.from({ length: 5 }, () => other.call('doctor'));
    for (let round = 0; round < 5; round++) {
      work.put({ a: `round ${round}` });
      await work.save(`round ${round}`);
    }
    for (const { result } of await Promise.all(asked)) {
      const wrong = (result?.['checks'] as Check[]).filter((check) => !check.ok);
      expect(wrong).toEqual([]);
    }
    expect((await doctor(work)).ok).toBe(true);
  });

  it('leaves no process behind when the daemon is stopped on the way', async () => {
    const work = await worked();
    const { pid } = work.project.daemonFile() ?? { pid: 0 };
    const other = await work.project.socket();
    other.send(request('check', 'doctor'));
    await other.call('status');
    signal(pid, 'SIGTERM');
    await until('the daemon is gone', () => !isAlive(pid));
    await until('no child of it is left', () => processesIn(work.root).length === 0);
  });
});
