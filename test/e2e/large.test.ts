import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { until } from '../support/until.js';
import { Work, type Opened, type Saved } from '../support/work.js';

const newProject = projectsPerTest();
const MB = 1024 * 1024;

/** Every piece differs from the others, so that no mix-up of pieces goes unseen. */
function largeContent(size: number, salt: string): Buffer {
  const content = Buffer.alloc(size, `${salt} and on and on\n`);
  for (let at = 0; at < size; at += 64 * 1024) content.write(`<${salt} at ${at}>`, at);
  return content;
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** The most memory a process ever had; 0 where nobody says. */
function peakOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/mu.exec(status)?.[1] ?? 0) * 1024;
}

describe('a file larger than any buffer', () => {
  it('is saved, replaced and brought back without being held in memory', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await work.call('update_config', { maxFileBytes: 500 * MB });
    const { pid } = await project.status();
    const content = largeContent(96 * MB, 'first');
    await work.fresh({ small: '0' });
    await work.call('known_files');
    const before = peakOf(pid);
    work.put({ large: content, small: '1' });
    const { commit_id: saved, skipped } = await work.call<Saved>('create_checkpoint');
    expect(skipped).toEqual([]);
    work.put({ large: largeContent(70 * MB, 'second'), small: '2' });
    const answer = await work.restore(saved);
    expect(answer).toMatchObject({ restored: ['large', 'small'], skipped: [] });
    expect(digestOf(readFileSync(work.at('large')))).toBe(digestOf(content));
    expect(peakOf(pid) - before).toBeLessThan(content.length);
    const back = await work.restore(answer.safety_checkpoint ?? '');
    expect(back.restored).toEqual(['large', 'small']);
    expect(digestOf(readFileSync(work.at('large')))).toBe(
      digestOf(largeContent(70 * MB, 'second')),
    );
    expect(await work.fsck()).toBe('');
  });
});

describe('work on thousands of files', () => {
  it('says how far it has come, and a dialog is deleted beside the checkpoints of another', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const count = 5_200;
    const files = (version: number): Record<string, string> =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`d${at % 20}/${at}`, `${version}-${at}\n`]),
      );
    work.put(files(0));
    const listener = await project.socket();
    await listener.call('subscribe', { types: ['progress'] });
    const told = (what: string) =>
      until(`progress of a ${what} was told`, () =>
        listener.received.find(({ event }) => event?.['what'] === what && event['done'] === 5_000),
      );
    const first = await work.call<Opened>('create_dialog', { title: 'first' });
    expect((await told('checkpoint')).event).toMatchObject({
      type: 'progress',
      dialog_id: first.dialog_id,
      total: count,
    });
    work.put(files(1));
    const second = await work.call<Opened>('create_dialog', { title: 'second' });
    await work.restore(first.initial_checkpoint, { dialog_id: first.dialog_id });
    expect((await told('restore')).event).toMatchObject({ dialog_id: first.dialog_id });
    await work.call('use_dialog', { dialog_id: second.dialog_id });
    const deleted = work.call<{ freed_bytes: number }>('delete_dialog', {
      dialog_id: first.dialog_id,
    });
    const other = new Work(project, await project.socket());
    const saved: string[] = [];
    for (let at = 0; at < 10; at++) {
      other.put({ [`d0/0`]: `between ${at}` });
      saved.push((await other.save()).commit_id);
    }
    expect((await deleted).freed_bytes).toBeGreaterThan(0);
    for (const [at, commit] of saved.entries()) {
      expect((await other.content(commit, 'd0/0')).toString()).toBe(`between ${at}`);
    }
    expect(await other.fsck()).toBe('');
  });
});
