import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { sharedWork, Work } from '../support/work.js';

interface Changes {
  readonly severity: string;
  readonly summary: string;
  readonly token_count: number;
  readonly cursor: string;
  readonly evicted?: readonly string[];
  readonly files?: {
    readonly total_new: number;
    readonly changed: readonly { readonly path: string; readonly by: string }[];
  };
}

const newProject = projectsPerTest();

describe('get_changes_since a cursor', () => {
  const shared = sharedWork();
  const since = (work: Work, checkpoint: string, more: object = {}): Promise<Changes> =>
    work.call('get_changes_since', { checkpoint, ...more });

  it('84: asked twice without a change is empty and tiny, and so is the next cursor', async () => {
    const work = shared();
    await work.fresh({ a: '1\n', b: '1\n' });
    const edit = editing(work);
    const start = await work.call<Changes>('get_changes_since', { client: 'somebody' });
    const started = await edit.start(['a']);
    work.put({ a: '2\n' });
    await edit.finalize(started);
    work.put({ b: 'by hand\n' });
    const full = await since(work, start.cursor);
    expect(full.files?.changed.map(({ path, by }) => `${path} ${by}`).sort()).toEqual([
      'a agent:ann',
      'b unknown',
    ]);
    expect((await since(work, start.cursor)).files).toEqual(full.files);

    let { cursor } = full;
    for (let round = 0; round < 2; round++) {
      const empty = await since(work, cursor);
      expect(empty.severity).toBe('clean');
      expect(empty.files).toMatchObject({ total_new: 0, changed: [] });
      expect(empty.evicted).toBeUndefined();
      // A few hundred bytes, whatever is in the project.
      expect(empty.token_count).toBeLessThan(250);
      expect(Buffer.byteLength(JSON.stringify(empty))).toBeLessThan(1_000);
      ({ cursor } = empty);
    }
  });

  it('84: of files goes on after gc and a restart, for the ledger it counts is never collected', async () => {
    let work = await Work.start(newProject());
    await work.fresh({ a: '1\n' });
    const { cursor } = await work.call<Changes>('get_changes_since', {});
    work.put({ a: '2\n' });
    await work.save('after it');
    await work.call('gc');
    await work.project.cli(['stop']);
    work = await Work.start(work.project);
    const { files, evicted } = await since(work, cursor);
    expect(files?.changed.map(({ path }) => path)).toEqual(['a']);
    expect(evicted).toBeUndefined();
  });

  it('84: whose telemetry is forgotten says of which streams', async () => {
    let work = await Work.start(newProject());
    await work.fresh({ a: '1\n' });
    const console = [{ level: 'error', message: 'Broken' }];
    await work.call('push_telemetry', { console });
    const { cursor } = await work.call<Changes>('get_changes_since', {});
    await work.project.cli(['stop']);
    work = await Work.start(work.project);
    expect((await since(work, cursor)).evicted).toContain('console');
  });

  it('84: that nobody can follow is refused by name', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const { cursor } = await work.call<Changes>('get_changes_since', {});
    const torn = cursor.slice(0, cursor.lastIndexOf('.'));
    for (const given of [torn, 'c1.0.0', 'c2.abc.1.1.1.1.1.1.1', 'nobody-knows-it']) {
      const { data } = await work.refusal('get_changes_since', { checkpoint: given });
      expect([given, data['code'], typeof data['hint']]).toEqual([
        given,
        'MARK_NOT_FOUND',
        'string',
      ]);
    }
    // Of a ledger that is longer than ours: of another project, or of one that was put back.
    const [sign, run, ...numbers] = cursor.split('.');
    const ahead = [sign, run, 'zzzz', ...numbers.slice(1)].join('.');
    const { data } = await work.refusal('get_changes_since', { checkpoint: ahead });
    expect(data).toMatchObject({ code: 'MARK_NOT_FOUND' });
  });
});
