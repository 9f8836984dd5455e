import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { agingPerTest, type Aging } from '../support/aging.js';
import { editing } from '../support/edits.js';
import { until } from '../support/until.js';
import { git, type Work } from '../support/work.js';

interface Collected {
  readonly freed_bytes: number;
  readonly removed: {
    readonly folded: readonly {
      readonly event?: string;
      readonly from: string;
      readonly to: string;
      readonly first: string;
      readonly last: string;
      readonly events: number;
    }[];
  };
}
interface Event {
  readonly id: string;
  readonly seq: number;
  readonly action_type: string;
  readonly folded?: string;
  readonly message?: string;
  readonly diff_path: string | null;
  readonly changes: readonly { readonly path: string; readonly after: string | null }[];
}

const FOLD = { fold_older_than_days: 5 };
const gc = (work: Work, more: object = FOLD): Promise<Collected> => work.call('gc', more);
const events = async (work: Work): Promise<Event[]> =>
  (await work.call<{ events: Event[] }>('history', { limit: 1000 })).events.reverse();
/** Nothing compresses it away. */
const noise = (): string =>
  `${randomBytes(3_000)
    .toString('hex')
    .replace(/(.{60})/gu, '$1\n')}\n`;

/** The event of an edit that leaves this content. */
async function edited(
  work: Work,
  files: Readonly<Record<string, string | null>>,
  name = 'ann',
): Promise<string> {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files), { agent: { name } });
  work.put(files);
  const { events: lines } = await edit.finalize(started);
  return lines.at(-1) ?? '';
}

/** Which of these the store has. */
async function stored(work: Work, hashes: readonly string[]): Promise<string[]> {
  const folder = work.checkpoints(await work.current());
  const answers = git(folder, ['cat-file', '--batch-check'], `${hashes.join('\n')}\n`).split('\n');
  return hashes.filter((_, at) => answers[at]?.includes(' blob ') === true);
}

async function isSound(work: Work): Promise<void> {
  expect(await work.call('verify')).toMatchObject({ ok: true, damaged: [] });
  const { checks } = await work.call<{ checks: { ok: boolean }[] }>('doctor');
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
}

async function snapshot(work: Work, message: string): Promise<string> {
  const { commit_id: commit } = await work.save(message);
  await work.call('snapshot_save');
  return commit;
}

/** Two snapshots with a message, edits and their contents between them; older than FOLD says. */
async function aged(aging: Aging) {
  const work = await aging.start();
  await work.fresh({ a: 'first\n', other: 'as it was\n' });
  const before = await snapshot(work, 'before');
  const early = [noise(), noise()];
  const contents = [...early, noise(), noise()];
  const edits: string[] = [];
  for (const content of early) edits.push(await edited(work, { a: content }));
  const { checkpoint: middle } = await work.call<{ checkpoint: string }>('user_message', {
    content: 'go on',
  });
  for (const content of contents.slice(2)) edits.push(await edited(work, { a: content }, 'bob'));
  await edited(work, { a: 'last\n', made: 'made\n' }, 'bob');
  const after = await snapshot(work, 'after');
  const later = await edited(work, { a: 'last\nlater\n' }, 'cat');
  aging.pass(10);
  // What a daemon has just written it holds for an hour, whoever has forgotten it.
  await aging.end('SIGTERM');
  const again = await aging.start();
  return { work: again, edits, contents, checkpoints: { before, middle, after }, later };
}

const hashesOf = async (work: Work, ids: readonly string[]): Promise<string[]> =>
  (await events(work)).flatMap(({ id, changes }) => {
    return ids.includes(id) ? changes.flatMap(({ after }) => after ?? []) : [];
  });

describe('folding old runs', () => {
  const newAging = agingPerTest();

  it('lets go of what only the lines between two snapshots hold, and tells it beforehand', async () => {
    const { work, edits, contents, checkpoints, later } = await aged(newAging());
    const lines = await events(work);
    const hashes = await hashesOf(work, edits);
    expect(await stored(work, hashes)).toEqual(hashes);

    const dry = await gc(work, { ...FOLD, dry_run: true });
    expect(await events(work)).toEqual(lines);
    expect(await stored(work, hashes)).toEqual(hashes);
    const done = await gc(work);
    const [run] = done.removed.folded;
    expect(run).toMatchObject({ from: 'snap-0001', to: 'snap-0002', events: 6 });
    const { event = '', ...planned } = run ?? { event: '' };
    const removed = { ...done.removed, folded: [planned] };
    expect(dry).toEqual({ ...done, dry_run: true, removed });
    // What the message saved in the middle of the run is a checkpoint's.
    expect(await stored(work, hashes)).toEqual([hashes[1]]);
    expect(done.freed_bytes).toBeGreaterThan(8_000);
    expect((await gc(work)).removed.folded).toEqual([]);

    const now = await events(work);
    expect(now.slice(0, lines.length).map(({ folded: _folded, ...line }) => line)).toEqual(lines);
    const told = now.find(({ id }) => id === event);
    expect(told?.message).toContain('snap-0001 and snap-0002');
    expect(told?.changes.map(({ path }) => path).sort()).toEqual(['a', 'made']);
    const folded = now.filter((line) => line.folded === event).map(({ id }) => id);
    expect(folded).toEqual(expect.arrayContaining(edits));
    expect(folded).not.toContain(later);
    expect(folded[0]).toBe(run?.first);
    expect(folded.at(-1)).toBe(run?.last);

    for (const id of edits) {
      const refusal = await work.refusal('show', { at: id, path: 'a' });
      expect(refusal).toMatchObject({ data: { code: 'EVENT_NOT_FOUND', folded: event } });
      expect(refusal.message).toContain(`folded into ${event}`);
      const { near } = refusal.data as unknown as { near: string[] };
      expect(near).toEqual(expect.arrayContaining(['snap-0001', 'snap-0002']));
      for (const at of near) await work.call('show', { at, path: 'a' });
    }
    const [first = ''] = edits;
    for (const [method, given] of [
      ['diff', { from: first }],
      ['restore', { checkpoint_id: first }],
      ['rewind', { target: first }],
      ['bookmark_add', { name: 'late', event: first }],
    ] as const) {
      expect(await work.refusal(method, given)).toMatchObject({
        data: { code: 'EVENT_NOT_FOUND' },
      });
    }
    expect(await work.call('show', { at: later, path: 'a' })).toMatchObject({
      content: 'last\nlater\n',
    });
    await isSound(work);

    const states = {
      [checkpoints.before]: 'first\n',
      [checkpoints.middle]: contents[1],
      [checkpoints.after]: 'last\n',
    };
    for (const [commit, content] of Object.entries(states)) {
      await work.restore(commit);
      expect(work.read('a')).toBe(content);
    }
    await isSound(work);
  });

  it('leaves a bookmarked event, and one that a checkpoint was made with', async () => {
    const { work, edits, contents, checkpoints } = await aged(newAging());
    const [, , named = ''] = edits;
    await work.call('bookmark_add', { name: 'kept', event: named });
    await gc(work);
    expect(await work.call('show', { at: 'kept', path: 'a' })).toMatchObject({
      content: contents[2],
    });
    expect(await work.call('show', { at: named, path: 'a' })).toMatchObject({
      content: contents[2],
    });
    await work.call('bookmark_add', { name: 'again', event: named });
    const made = (await events(work)).find(
      ({ folded, action_type: type }) => folded !== undefined && type === 'save',
    );
    expect(await work.call('show', { at: made?.id, path: 'a' })).toMatchObject({
      content: contents[1],
    });
    await work.restore('again');
    expect(work.read('a')).toBe(contents[2]);
    await work.restore(checkpoints.before);
    await isSound(work);
  });

  it('tells the same after a kill, with everything made from the lines deleted', async () => {
    const aging = newAging();
    const { work, edits, later } = await aged(aging);
    await gc(work);
    const look = async (at: Work) => ({
      history: await at.call('history', { limit: 1000 }),
      blame: await at.call('blame', { path: 'a' }),
      later: await at.call('show', { at: later, path: 'a' }),
      folded: await at.refusal('show', { at: edits[0], path: 'a' }),
    });
    const then = await look(work);
    const dialog = await work.current();
    await aging.end('SIGKILL');
    const again = await aging.start();
    expect(await look(again)).toEqual(then);
    await aging.end('SIGTERM');
    for (const name of ['derived.jsonl', 'index.bin', 'segments.bin', 'diffs', 'bookmarks.json']) {
      rmSync(aging.project.path('ledger', name), { recursive: true, force: true });
    }
    rmSync(aging.project.path('dialogs', dialog, 'journal.sqlite'));
    const anew = await aging.start();
    expect(await look(anew)).toEqual(then);
    await isSound(anew);
  });

  it('is finished by the next start when it was cut off after the line', async () => {
    const aging = newAging();
    const { work, edits } = await aged(aging);
    const hashes = await hashesOf(work, edits);
    const [first = ''] = edits;
    const patch = aging.project.path('ledger', 'diffs');
    const isThere = (): boolean => readdirSync(patch).includes(`diff-${first}.patch`);
    await until('the patches are written', () => existsSync(patch) && isThere());
    const other = await work.project.socket();
    void other.call('gc', FOLD).catch(() => undefined);
    await until('the line is there', async () => {
      return (await events(work)).some(({ folded }) => folded !== undefined);
    });
    await aging.end('SIGKILL');
    const again = await aging.start();
    await isSound(again);
    expect(isThere()).toBe(false);
    await gc(again, {});
    expect(await stored(again, hashes)).toEqual([hashes[1]]);
    await isSound(again);
  });

  it('leaves the approved state, the live session and the way back as they were', async () => {
    const aging = newAging();
    const first = await aging.start();
    await first.fresh({ a: 'first\n' });
    await snapshot(first, 'before');
    await edited(first, { a: noise() });
    await edited(first, { a: 'approved\n' });
    await first.call('approve');
    await edited(first, { a: noise() });
    await edited(first, { a: 'live\n' });
    await snapshot(first, 'after');
    aging.pass(10);
    await aging.end('SIGTERM');
    const work = await aging.start();
    const session = await work.call('get_session');
    const log = await work.log();
    expect((await gc(work)).removed.folded.length).toBeGreaterThan(0);
    expect(await work.call('get_session')).toEqual(session);
    expect(await work.log()).toEqual(log);
    await work.call('undo');
    expect(work.read('a')).toBe('approved\n');
    await work.call('redo');
    expect(work.read('a')).toBe('live\n');
    await work.call('reset');
    expect(work.read('a')).toBe('approved\n');
    await isSound(work);
  });

  it('tells in several lines what does not fit into one', async () => {
    const aging = newAging();
    const first = await aging.start();
    await first.fresh({ a: 'first\n' });
    await snapshot(first, 'before');
    first.put(Object.fromEntries(Array.from({ length: 1_200 }, (_, at) => [`f/${at}`, `${at}\n`])));
    await snapshot(first, 'after');
    aging.pass(10);
    await aging.end('SIGTERM');
    const work = await aging.start();
    expect((await gc(work)).removed.folded).toHaveLength(1);
    const lines = (await events(work)).filter(({ message }) => message?.startsWith('Folded'));
    expect(lines.map(({ changes }) => changes.length)).toEqual([1_000, 200]);
    const patches = aging.project.path('ledger', 'diffs');
    for (const { id } of lines) {
      await until('it has its patch', () => existsSync(`${patches}/diff-${id}.patch`));
    }
    expect((await gc(work)).removed.folded).toEqual([]);
    await isSound(work);
  });

  it('leaves everything alone unless somebody asks for it', async () => {
    const { work, edits } = await aged(newAging());
    const hashes = await hashesOf(work, edits);
    expect((await gc(work, {})).removed.folded).toEqual([]);
    expect((await gc(work, { fold_older_than_days: 11 })).removed.folded).toEqual([]);
    expect(await work.refusal('gc', { fold_older_than_days: 0 })).toMatchObject({
      data: { code: 'INVALID_PARAMS' },
    });
    expect(await stored(work, hashes)).toEqual(hashes);
    for (const at of edits) await work.call('show', { at, path: 'a' });
  });

  it('is done without anybody asking where the settings say so', async () => {
    const { work, edits } = await aged(newAging());
    const hashes = await hashesOf(work, edits);
    await work.call('update_config', { snapshots: { foldAfterDays: 5 } });
    await edited(work, { a: 'a line that wakes it\n' });
    await until('the contents are gone', async () => (await stored(work, hashes)).length === 1);
    await isSound(work);
  });

  it('is told in words', async () => {
    const { work } = await aged(newAging());
    const dry = await work.project.cli(['gc', '--fold', '5', '--dry-run']);
    expect(dry.stdout).toMatch(
      /would fold +evt-\d+ to evt-\d+, between snap-0001 and snap-0002\n/u,
    );
    const { stdout } = await work.project.cli(['gc', '--fold', '5']);
    expect(stdout).toMatch(
      /folded +evt-\d+ to evt-\d+, between snap-0001 and snap-0002 into evt-/u,
    );
    expect(stdout).toContain('6 changes let go, their lines stay');
    const told = await work.project.cli(['history', '--limit', '30']);
    expect(told.stdout).toContain('folded into evt-');
  });
});
