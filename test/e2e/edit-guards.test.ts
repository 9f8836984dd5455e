import { describe, expect, it } from '@jest/globals';
import { truncateSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { git, sharedWork } from '../support/work.js';

interface Doctor {
  readonly checks: readonly { readonly name: string; readonly ok: boolean; detail: string }[];
}

describe('an edit', () => {
  const shared = sharedWork();

  it('of an ignored file that is too large to be saved is refused without reading it', async () => {
    const work = shared();
    await work.fresh({ '.gitignore': 'dump\n', dump: '' });
    // It takes no room on the disk, and would take more than there is in memory.
    truncateSync(work.at('dump'), 2 ** 36);
    const { data } = await work.refusal('start_edit', { files: ['dump'] });
    expect(data).toMatchObject({ code: 'LIMIT_EXCEEDED', path: 'dump', setting: 'maxFileBytes' });
  });

  it('that takes a file over from a command leaves a journal as the ledger has it', async () => {
    const work = shared();
    await work.fresh({ a: 'a\n' });
    const edit = editing(work);
    const command = await edit.startProject();
    work.put({ a: 'a\nby the command\n' });
    const own = await edit.start(['a']);
    await edit.finalize(own);
    await edit.finalize(command);
    const { checks } = await work.call<Doctor>('doctor');
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('begins with what is on the disk, though unknown changes are rejected at that moment', async () => {
    const work = shared();
    const names = Array.from({ length: 200 }, (_, number) => `f${String(number).padStart(3, '0')}`);
    const filled = (text: string) => Object.fromEntries(names.map((name) => [name, text]));
    await work.fresh(filled('known'));
    const edit = editing(work);
    const other = await work.project.socket();
    for (let round = 0; round < 5; round++) {
      work.put(filled(`unknown ${round}`));
      await edit.unknown();
      const rejected = other.call('handle_unknown_changes', { strategy: 'reject' });
      const started = await edit.start(['f199'], { strategy: 'warn' });
      await rejected;
      const onDisk = git(work.root, ['hash-object', 'f199']).trim();
      expect(started.files).toMatchObject([{ hash: onDisk }]);
      await edit.finalize(started);
      await work.call('reset_known_state');
      work.put(filled('known'));
      await work.call('reset_known_state');
    }
  });
});
