import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { plainEnvironment } from '../support/processes.js';
import { canMount, smallDisksPerTest } from '../support/small-disk.js';
import { until } from '../support/until.js';
import { Work, type Saved } from '../support/work.js';

const MEGABYTE = 1024 * 1024;
const SHIFTED_CLOCK = new URL('../fixtures/shifted-clock.mjs', import.meta.url).pathname;
const onSmallDisk = smallDisksPerTest();
const newProject = projectsPerTest();

/** Takes all the room there is but for a little. */
function fillDisk(path: string): void {
  const file = openSync(path, 'w');
  const block = Buffer.alloc(MEGABYTE);
  try {
    for (;;) writeSync(file, block);
  } catch {
    ftruncateSync(file, fstatSync(file).size - MEGABYTE);
  }
  closeSync(file);
}

describe('a disk that is full', () => {
  // Skipped where nothing may be mounted.
  (canMount() ? it : it.skip)(
    '82: during a checkpoint: it is refused by name, nothing saved before is lost, and with room it works',
    async () => {
      const work = await Work.start(onSmallDisk('64m'));
      await work.fresh({ a: '0' });
      work.put({ a: '1' });
      const { commit_id: kept } = await work.save('kept');
      const before = await work.log();
      work.put({ large: randomBytes(16 * MEGABYTE) });
      mkdirSync(work.at('.git'));
      fillDisk(work.at('.git/not-tracked'));
      const { data } = await work.refusal('create_checkpoint', { message: 'no room' });
      expect(data).toMatchObject({ code: 'STORAGE_FULL' });
      expect(await work.log()).toEqual(before);
      expect(await work.fsck()).toBe('');

      work.put({ '.git': null });
      const saved = await work.save('with room');
      expect(saved.changed).toEqual({ added: 1, modified: 0, deleted: 0 });
      await work.restore(kept);
      expect(work.disk()).toEqual({ a: 'file 1' });
      expect(await work.call('verify')).toMatchObject({ ok: true });
    },
  );
});

describe('retention', () => {
  it('86: over every limit the newest, the bookmarked and the approved state can still be had', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: 'first' });
    await work.call('update_config', { snapshots: { keepLast: 1, keepEvery: 1_000 } });
    work.put({ a: 'approved' });
    const { approved_commit: approved } = await work.call<{ approved_commit: string }>('approve');
    work.put({ a: 'bookmarked' });
    const { commit_id: named } = await work.save('to be bookmarked');
    await work.call('bookmark_add', { name: 'kept', checkpoint: named });
    for (let number = 0; number < 5; number++) {
      work.put({ a: `snapshot ${number}` });
      await work.call('snapshot_save');
    }
    work.put({ a: 'newest' });
    const { commit_id: newest } = await work.save('newest');
    await work.call('update_config', { store: { limitBytes: 1 } });
    const { removed } = await work.call<{ removed: { snapshots: string[] } }>('gc');
    expect(removed.snapshots).toEqual(['snap-0001', 'snap-0002', 'snap-0003', 'snap-0004']);
    await work.call('update_config', { store: { limitBytes: 5_000_000_000 } });
    for (const [point, content] of [
      [approved, 'approved'],
      ['kept', 'bookmarked'],
      ['snap-0005', 'snapshot 4'],
      [newest, 'newest'],
    ] as const) {
      const { content: shown } = await work.call<{ content: string }>('show', {
        at: point,
        path: 'a',
      });
      expect([point, shown]).toEqual([point, content]);
      await work.call('rewind', { target: point });
      expect(work.read('a')).toBe(content);
    }
    expect(await work.call('verify')).toMatchObject({ ok: true });
  });
});

describe('a thousand checkpoints deep', () => {
  it('87: a restore reads no more than at the top', async () => {
    const work = await Work.start(newProject());
    const { initial_checkpoint: first } = await work.fresh({ a: '0', b: 'same' });
    work.put({ a: '1' });
    const { commit_id: second } = await work.save('second');
    const pid = work.project.daemonFile()?.pid ?? 0;
    const bytesRead = (): number =>
      Number(/^rchar: (\d+)/mu.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
    /** Of several, the one in which nothing else was going on in the background. */
    const cost = async (): Promise<number> => {
      const costs: number[] = [];
      for (let round = 0; round < 5; round++) {
        for (const target of [first, second]) {
          const before = bytesRead();
          await work.restore(target);
          costs.push(bytesRead() - before);
          expect(work.read('a')).toBe(target === first ? '0' : '1');
        }
      }
      return Math.min(...costs);
    };
    const shallow = await cost();
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 50 }, (_, number) => work.save(`${round} ${number}`)));
    }
    expect(await work.log({ limit: 1000 })).toHaveLength(1000);
    // One small commit of a thousand is 300 bytes: a walk through them would read a hundred times more.
    expect(await cost()).toBeLessThan(shallow * 3 + 20_000);
  }, 240_000);
});

describe('a clock that jumps', () => {
  const HOUR_MS = 3_600_000;

  it('88: back and forth: order is by sequence, nothing expires, and everything can be had', async () => {
    const project = newProject((folder) => join(folder, 'project'));
    mkdirSync(project.root);
    const offset = join(project.folder, 'offset');
    const jump = (hours: number): void => writeFileSync(offset, String(hours * HOUR_MS));
    jump(0);
    const words = ['--import', SHIFTED_CLOCK, CLI, '--root', project.root, 'start', '--foreground'];
    const env = plainEnvironment({ CLOCK_OFFSET_FILE: offset });
    const daemon = spawn(process.execPath, words, { env, stdio: 'ignore' });
    await until('the daemon answers', () => project.daemonFile());
    const work = new Work(project, await project.socket());
    const { initial_checkpoint: first } = await work.call<{ initial_checkpoint: string }>(
      'create_dialog',
    );
    const edit = editing(work);
    const open = await edit.start(['held'], { detached: true, ttl_ms: 600_000 });
    const made: string[] = [];
    // As after a sleep of two days, then as if somebody had set the clock back by three.
    for (const [number, hours] of [0, 48, -24, 1, -1].entries()) {
      jump(hours);
      work.put({ a: `state ${number}` });
      const saved: Saved = await work.save(`state ${number}`);
      made.push(saved.commit_id);
    }
    const log = await work.log();
    expect(log.map(({ commit_id: id }) => id)).toEqual([...made].reverse().concat(first));
    const times = log.map(({ created_at: at }) => Date.parse(at));
    expect(times).not.toEqual([...times].sort((a, b) => b - a));
    const { events } = await work.call<{ events: { seq: number }[] }>('history', { limit: 1000 });
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
    // Its ten minutes are ten minutes of the daemon's life.
    const { edits } = await work.call<{ edits: { edit_id: string; state: string }[] }>(
      'list_edits',
    );
    expect(edits).toEqual([expect.objectContaining({ edit_id: open.edit_id, state: 'open' })]);
    await edit.abort(open);
    for (const number of [3, 2, 1, 0]) {
      await work.call('undo');
      expect(work.read('a')).toBe(`state ${number}`);
    }
    for (const [number, commit] of made.entries()) {
      await work.restore(commit);
      expect(work.read('a')).toBe(`state ${number}`);
    }
    expect(await work.call('verify')).toMatchObject({ ok: true });
    expect(daemon.exitCode).toBeNull();
  });
});
