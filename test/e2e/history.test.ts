import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { editing } from '../support/edits.js';
import { sharedWork, type Work } from '../support/work.js';

interface Event {
  readonly id: string;
  readonly seq: number;
  readonly ts: string;
  readonly action_type: string;
  readonly files: readonly string[];
  readonly [field: string]: unknown;
}
interface Page {
  readonly events: readonly Event[];
  readonly next?: string;
}

function history(work: Work, query: object = {}): Promise<Page> {
  return work.call('history', query);
}

const shown = ({ events }: Page): string[] =>
  events.map(({ action_type: type, files }) => [type, ...files].join(' '));

describe('history', () => {
  const shared = sharedWork();

  /** Two agents, one of them in another session, and a command. */
  async function busy() {
    const work = shared();
    const { dialog_id: dialog } = await work.fresh({ 'src/a': '1\n', b: '1\n' });
    const { events: before } = await history(work, { limit: 1 });
    const since = before[0]?.id ?? '';
    const edit = editing(work);
    const change = async (files: Record<string, string>, more: object) => {
      const started = await edit.start(Object.keys(files), more);
      work.put(files);
      return (await edit.finalize(started)).events;
    };
    await change({ 'src/a': '1\n2\n' }, { agent: { name: 'ann' }, rationale: 'two is better' });
    await change({ b: '2\n' }, { agent: { name: 'bob' } });
    await work.call('approve', {});
    await change({ 'src/c': 'c\n' }, { agent: { name: 'ann' } });
    const started = await edit.startProject({ tool: 'make' });
    work.put({ 'out/made': 'made\n' });
    await edit.finalize(started);
    return { work, dialog, since };
  }

  it('is every line of the ledger, newest first, as the format says', async () => {
    const { work } = await busy();
    const { events } = await history(work, { limit: 1000 });
    const lines = readFileSync(work.project.path('ledger/events.jsonl'), 'utf8').trimEnd();
    const written = lines
      .split('\n')
      .map((line) => JSON.parse(line) as Event)
      .reverse();
    expect(events.map(({ id }) => id)).toEqual(written.map(({ id }) => id));
    const fields = ['ts', 'author', 'branch', 'parent_event_id', 'diff_path', 'changes', 'prev'];
    for (const field of [...fields, 'affected_lines', 'session', 'dialog_id', 'run_id']) {
      expect(events.map((event) => event[field])).toEqual(written.map((line) => line[field]));
    }
  });

  it('is narrowed by file, folder, author, branch, kind, dialog and time', async () => {
    const { work, dialog, since } = await busy();
    const of = async (query: object) => shown(await history(work, { since, ...query }));
    const changes = (all: readonly string[]) =>
      all.filter((one) => !/^(edit_st|save|snapshot|checkpoint$)/u.test(one));
    expect(changes(await of({ file: 'b' }))).toEqual(['edit_replace b']);
    expect(changes(await of({ file: 'src' }))).toEqual(['file_create src/c', 'edit_insert src/a']);
    expect(changes(await of({ file: work.at('src/a') }))).toEqual(['edit_insert src/a']);
    const byAnn = ['file_create src/c', 'edit_insert src/a'];
    expect(changes(await of({ author: 'ann' }))).toEqual(byAnn);
    expect(changes(await of({ author: 'agent:ann' }))).toEqual(byAnn);
    expect(changes(await of({ author: 'make' }))).toEqual(['file_create out/made']);
    expect(changes(await of({ branch: 'session_2' }))).toEqual([
      'file_create out/made',
      'file_create src/c',
    ]);
    expect(await of({ action_type: 'file_create' })).toEqual([
      'file_create out/made',
      'file_create src/c',
    ]);
    expect(await of({ action_type: 'file_create', author: 'ann' })).toEqual(['file_create src/c']);
    expect((await of({ dialog_id: dialog })).length).toBeGreaterThan(6);
    expect(await of({ dialog_id: dialog.slice(0, 26), file: 'nowhere' })).toEqual([]);
    expect(await of({ since: '2000-01-01', limit: 1 })).toHaveLength(1);
    expect(await of({ since: '2999-01-01T00:00:00Z' })).toEqual([]);
  });

  it('comes in pages that miss nothing and repeat nothing', async () => {
    const { work } = await busy();
    const { events: all } = await history(work, { limit: 1000 });
    const paged: string[] = [];
    for (let before: object = {}; ;) {
      const { events, next } = await history(work, { limit: 3, ...before });
      paged.push(...events.map(({ id }) => id));
      if (next === undefined) break;
      before = { before: next };
    }
    expect(paged).toEqual(all.map(({ id }) => id));
  });

  it('is the same after a restart', async () => {
    const { work } = await busy();
    const before = await history(work, { limit: 1000, file: 'src' });
    await work.project.cli(['stop']);
    await work.project.startDaemon();
    const again = await work.project.json<Page>(['history', 'src', '--limit', '1000']);
    expect(again).toEqual(before);
  });
});

describe('history on the command line', () => {
  const shared = sharedWork();

  it('is a line for each event, with its age, its author and its reason', async () => {
    const work = shared();
    await work.fresh({ a: '1\n' });
    const edit = editing(work);
    const started = await edit.start(['a'], { rationale: 'two is\nbetter' });
    work.put({ a: '1\n2\n' });
    const { events } = await edit.finalize(started);
    const { stdout } = await work.project.cli(['history', '--file', 'a', '-n', '1']);
    expect(stdout).toMatch(
      new RegExp(
        `^${events[0] ?? ''}  (just now|\\d+ s ago)  agent:ann  edit_insert  session_1  a  lines:2  two is better\n`,
        'u',
      ),
    );
    expect(stdout).toContain(`There is more: the same with --before ${events[0] ?? ''}\n`);
    const none = await work.project.cli(['history', '--author', 'nobody']);
    expect(none.stdout).toBe('Nothing of this kind has happened.\n');
  });

  it('refuses what it does not understand by name', async () => {
    const work = shared();
    const wrong = async (query: object) => (await work.refusal('history', query)).data['code'];
    expect(await wrong({ before: 'evt-99999999' })).toBe('EVENT_NOT_FOUND');
    expect(await wrong({ since: 'evt-x' })).toBe('EVENT_NOT_FOUND');
    expect(await wrong({ since: 'yesterday' })).toBe('INVALID_PARAMS');
    expect(await wrong({ dialog_id: 'nothing-like-it' })).toBe('DIALOG_NOT_FOUND');
    expect(await wrong({ action_type: 'made_up' })).toBe('INVALID_PARAMS');
    expect(await wrong({ file: '../elsewhere' })).toBe('PATH_OUTSIDE_ROOT');
  });
});
