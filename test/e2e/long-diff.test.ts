import { describe, expect, it } from '@jest/globals';
import { sharedWork } from '../support/work.js';

interface Compared {
  readonly files: readonly unknown[];
  readonly omitted?: number;
}

describe('a diff', () => {
  const shared = sharedWork();

  it('says what is not in it, beside the patch', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    work.put({ a: '1\n', large: 'line\n'.repeat(300_000) });
    const { code, stdout, stderr } = await work.project.cli(['diff', first]);
    expect([code, stderr]).toEqual([0, '! Not in this diff: large.\n']);
    expect(stdout).toContain('+1\n');
    expect(await work.call<Compared>('diff', { from: first })).not.toHaveProperty('omitted');
  });

  it('counts the files beyond those it lists', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n' });
    work.put(Object.fromEntries(Array.from({ length: 5_002 }, (_, at) => [`new/${at}`, ''])));
    const { files, omitted } = await work.call<Compared>('diff', { from: first });
    expect([files.length, omitted]).toEqual([5_000, 2]);
    expect(await work.call('get_session')).toMatchObject({ omitted: 2 });
    const { stdout } = await work.project.cli(['session']);
    expect(stdout).toContain('5002 files differ');
    const { stderr } = await work.project.cli(['diff', first, '--stat']);
    expect(stderr).toBe('! Not in this diff: 2 more files.\n');
  });
});
