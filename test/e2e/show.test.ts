import { describe, expect, it } from '@jest/globals';
import { chmodSync, renameSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { randomNumbers } from '../support/random-numbers.mjs';
import { git, sharedWork, Work } from '../support/work.js';

interface Shown {
  readonly path: string;
  readonly hash: string;
  readonly mode: string;
  readonly content?: string;
  readonly content_base64?: string;
}

const show = (work: Work, at: string, path: string): Promise<Shown> =>
  work.call('show', { at, path });

async function newest(work: Work): Promise<string> {
  const { events } = await work.call<{ events: { id: string }[] }>('history', { limit: 1 });
  return events[0]?.id ?? '';
}

async function edited(work: Work, files: Readonly<Record<string, string | Buffer | null>>) {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files));
  work.put(files);
  return (await edit.finalize(started)).events.at(-1) ?? '';
}

describe('a file at an event', () => {
  const shared = sharedWork();

  it('is what it was then, with its hash and its mode', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1\n', b: 'b\n' });
    const two = await edited(work, { a: '2\n' });
    const bytes = Buffer.from([0, 255, 1]);
    const binary = await edited(work, { 'dir/bin': bytes });
    chmodSync(work.at('a'), 0o755);
    const { commit_id: saved } = await work.save('with a mode');
    const three = await edited(work, { a: '3\n' });
    expect(await show(work, two, 'a')).toEqual({
      path: 'a',
      hash: git(work.root, ['hash-object', '--stdin'], '2\n').trim(),
      mode: '100644',
      content: '2\n',
    });
    expect((await show(work, first, 'a')).content).toBe('1\n');
    expect((await show(work, first.slice(0, 8), 'a')).content).toBe('1\n');
    expect((await show(work, two, 'b')).content).toBe('b\n');
    expect(await show(work, binary, 'dir/bin')).toMatchObject({
      content_base64: bytes.toString('base64'),
    });
    expect(await show(work, saved, 'a')).toMatchObject({ content: '2\n', mode: '100755' });
    expect(await show(work, three, 'a')).toMatchObject({ content: '3\n', mode: '100755' });
    expect((await show(work, 'main', 'a')).content).toBe('1\n');
    expect((await show(work, 'worktree', 'a')).content).toBe('3\n');
  });

  it('is refused by name when there was none', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const before = await newest(work);
    const made = await edited(work, { new: 'n\n' });
    const gone = await edited(work, { new: null });
    const code = async (at: string, path: string) =>
      (await work.refusal('show', { at, path })).data['code'];
    expect(await code(before, 'new')).toBe('PATH_UNSUPPORTED');
    expect(await code(gone, 'new')).toBe('PATH_UNSUPPORTED');
    expect((await show(work, made, 'new')).content).toBe('n\n');
    expect(await code('evt-99999999', 'a')).toBe('EVENT_NOT_FOUND');
    expect(await code('ffffffff', 'a')).toBe('CHECKPOINT_NOT_FOUND');
    expect(await code(made, '../a')).toBe('PATH_OUTSIDE_ROOT');
  });

  it('is what was known, while an edit is open and a checkpoint holds its work', async () => {
    const work = shared();
    await work.fresh({ a: 'before\n', b: '1\n' });
    const edit = editing(work);
    const open = await edit.start(['a']);
    work.put({ a: 'half\n' });
    const { commit_id: saved } = await work.save('in between');
    const other = await edited(work, { b: '2\n' });
    work.put({ a: 'done\n' });
    const { events } = await edit.finalize(open);
    expect((await show(work, saved, 'a')).content).toBe('half\n');
    expect((await show(work, other, 'a')).content).toBe('before\n');
    expect((await show(work, events[0] ?? '', 'a')).content).toBe('done\n');
  });

  it('can be had for every event of any sequence of changes, also after a restart', async () => {
    const work = shared();
    const pick = randomNumbers(7);
    const names = ['a', 'b', 'dir/c', 'dir/d'];
    const { initial_checkpoint: first } = await work.fresh({ a: '0\n', b: '0\n' });
    const states = new Map<string, Record<string, string | undefined>>();
    const now = () =>
      Object.fromEntries(
        names.map((name) => [name, work.disk()[name] === undefined ? undefined : work.read(name)]),
      );
    for (let step = 1; step <= 40; step += 1) {
      const name = names[pick(names.length)] ?? 'a';
      const content = pick(5) === 0 ? null : `${step}\n${'line\n'.repeat(pick(4))}`;
      const what = pick(6);
      if (what <= 2) await edited(work, { [name]: content });
      if (what === 3) work.put({ [name]: content });
      if (what >= 3) await work.save(`step ${step}`);
      if (what === 5) await work.restore(first);
      states.set(await newest(work), now());
    }
    const check = async (ask: Work): Promise<void> => {
      for (const [event, expected] of states) {
        for (const name of names) {
          const { result } = await ask.answer('show', { at: event, path: name });
          const shown = (result as Shown | undefined)?.content;
          expect([event, name, shown]).toEqual([event, name, expected[name]]);
        }
      }
    };
    await check(work);
    await work.project.cli(['stop']);
    await work.project.startDaemon();
    await check(new Work(work.project, await work.project.socket()));
  });
});

describe('show and diff on the command line', () => {
  const shared = sharedWork();

  it('print the bytes of a file, and compare events like any other states', async () => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ a: '1\n', 'dir/m': 'moves\n' });
    const two = await edited(work, { a: '1\n2\n' });
    const edit = editing(work);
    const started = await edit.start(['dir/m', 'dir/n']);
    renameSync(work.at('dir/m'), work.at('dir/n'));
    const moved = (await edit.finalize(started)).events[0] ?? '';
    const three = await edited(work, { a: '1\n2\n3\n' });
    expect((await work.project.cli(['show', `${two}:a`])).stdout).toBe('1\n2\n');
    expect((await work.project.cli(['show', two, 'a'])).stdout).toBe('1\n2\n');
    expect((await work.project.cli(['show', 'a'])).code).toBe(2);
    const names = async (...places: string[]) =>
      (await work.project.cli(['diff', ...places, '--name-status'])).stdout.split('\n');
    expect(await names(first, two)).toEqual(['M\ta', '']);
    expect(await names(two, moved)).toEqual(['R100\tdir/m\tdir/n', '']);
    expect(await names(moved, three)).toEqual(['M\ta', '']);
    expect(await names(three)).toEqual(['']);
    const { stdout } = await work.project.cli(['diff', three, two]);
    expect(stdout).toContain('@@ -1,3 +1,2 @@\n 1\n 2\n-3\n');
  });
});
