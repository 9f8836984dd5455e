import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { LedgerEntry } from '../../src/core/ledger.js';
import { encodeLine, hashLine } from '../../src/ledger/line.js';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { Work } from '../support/work.js';

const newProject = projectsPerTest();

const linesOf = (project: Project): string[] =>
  readFileSync(project.path('ledger/events.jsonl'), 'utf8').trimEnd().split('\n');

interface History {
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

describe('an edit that is taken back', () => {
  it('78: after half of its files were written leaves the files as they were and its lines in the ledger', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: 'a\n', b: 'b\n' });
    const before = work.disk();
    const edit = editing(work);
    const started = await edit.start(['a', 'b', 'made']);
    work.put({ a: 'half', made: 'm' });
    await edit.abort(started);
    expect(work.disk()).toEqual(before);
    const { events } = await work.call<History>('history', { action_type: 'edit_aborted' });
    expect(events).toEqual([expect.objectContaining({ files: ['a', 'made'] })]);
  });
});

describe('a ledger with', () => {
  it('80: a line of a later daemon is read, its members are kept and mean nothing', async () => {
    let work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const { commit_id: kept } = await work.save('kept');
    await work.project.cli(['stop']);
    const last = linesOf(work.project).at(-1) ?? '';
    const { seq } = JSON.parse(last) as LedgerEntry;
    const future = {
      ...(JSON.parse(last) as LedgerEntry),
      seq: seq + 1,
      id: `evt-${String(seq + 1).padStart(6, '0')}`,
      action_type: 'of_the_future',
      fact: undefined,
      of_the_future: { deep: ['er'] },
      prev: hashLine(Buffer.from(last)),
    } as unknown as LedgerEntry;
    appendFileSync(
      work.project.path('ledger/events.jsonl'),
      Buffer.concat([encodeLine(future, 0), Buffer.from('\n')]),
    );
    work = await Work.start(work.project);
    expect((await work.log())[0]?.commit_id).toBe(kept);
    work.put({ a: '1' });
    await work.save('goes on');
    await work.restore(kept);
    expect(work.read('a')).toBe('0');
    const line = linesOf(work.project).find((one) => one.includes(`"seq":${seq + 1},`));
    expect(line).toContain('"of_the_future":{"deep":["er"]}');
    expect(await work.call('verify')).toMatchObject({ ok: true });
  });

  it('80: a line that comes twice is named, counts once, and work goes on', async () => {
    let work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    work.put({ a: '1' });
    const { commit_id: kept } = await work.save('kept');
    const before = (await work.call<History>('history', { limit: 1000 })).events;
    await work.project.cli(['stop']);
    const lines = linesOf(work.project);
    const twice = [...lines, lines.at(-1) ?? ''];
    writeFileSync(work.project.path('ledger/events.jsonl'), `${twice.join('\n')}\n`);
    work = await Work.start(work.project);
    const { events } = await work.call<History>('history', { limit: 1000 });
    expect(events.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
    const { checks } = await work.call<{ checks: { ok: boolean; detail: string }[] }>('doctor');
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      expect.objectContaining({ detail: expect.stringMatching(/line \d+/u) }),
    ]);
    work.put({ a: '2' });
    await work.save('goes on');
    await work.restore(kept);
    expect(work.read('a')).toBe('1');
    expect((await work.log()).map(({ message }) => message)).toContain('goes on');
  });

  it('83: nothing but its lines, read from the first, makes the tree of every checkpoint', async () => {
    const work = await Work.start(newProject());
    // Begun with nothing, so that everything there ever was is told by a line.
    await work.fresh();
    work.put({ a: '0\n', 'd/b': '0\n', gone: '0\n' });
    await work.save('the first files');
    const edit = editing(work);
    const named = await edit.start(['a', 'made']);
    work.put({ a: '1\n', made: 'm\n' });
    await edit.finalize(named);
    await work.save('by an agent');
    work.put({ 'd/b': 'by hand\n', gone: null });
    const { commit_id: second } = await work.save('by somebody unknown');
    const shell = await edit.startProject();
    work.put({ 'out/x': 'x\n', a: null });
    await edit.finalize(shell);
    await work.call('user_message', { content: 'go on' });
    await edit.abort(await edit.start(['made']));
    await work.restore(second);
    await work.call('undo');
    await work.call('approve');
    work.put({ a: 'after the approval\n' });
    await work.call('reset');

    const state = new Map<string, string>();
    let compared = 0;
    for (const line of linesOf(work.project)) {
      const event = JSON.parse(line) as Line;
      if (event.noted !== true) for (const change of event.changes) apply(state, change);
      const commit = event.fact?.commit;
      if (typeof commit !== 'string') continue;
      expect([event.id, Object.fromEntries([...state].sort())]).toEqual([
        event.id,
        await work.tree(commit),
      ]);
      compared++;
    }
    expect(compared).toBeGreaterThan(5);
  });
});

interface Line {
  readonly id: string;
  readonly noted?: boolean;
  readonly changes: readonly Change[];
  readonly fact?: { readonly commit?: string };
}
interface Change {
  readonly path: string;
  readonly after: string | null;
  readonly mode_after?: string;
}

function apply(state: Map<string, string>, { path, after, mode_after: mode }: Change): void {
  if (after === null) state.delete(path);
  else state.set(path, `${mode ?? '100644'} ${after}`);
}
