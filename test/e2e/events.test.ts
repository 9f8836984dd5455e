import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { isAlive, signal } from '../support/processes.js';
import { ipcRequest, request, type RawSocket } from '../support/raw-socket.js';
import { until } from '../support/until.js';
import { Work, type Opened } from '../support/work.js';

const newProject = projectsPerTest();

/** Everything of the kinds that stand for a ledger line, in the order in which it came. */
const LINES = [
  ...['user', 'dialog', 'checkpoint', 'session', 'restore'],
  ...['edit_started', 'file_edit', 'edit_aborted'],
];

function linesOf({ received }: RawSocket) {
  return received.flatMap(({ event }) => {
    return event !== undefined && LINES.includes(String(event['type'])) ? [event] : [];
  });
}

/** The lines that somebody is told of: those of dialogs and of edits. */
function allLines(project: Project): Readonly<Record<string, unknown>>[] {
  const text = readFileSync(project.path('ledger/events.jsonl'), 'utf8');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

function ledgerOf(project: Project): Readonly<Record<string, unknown>>[] {
  return allLines(project).filter(({ fact, edit }) => fact !== undefined || edit !== undefined);
}

/** One of each thing that leaves a line. */
async function workOn(work: Work): Promise<void> {
  await work.call('user_message', { content: 'Make it faster' });
  for (const end of ['finalize_edit', 'abort_edit']) {
    const { edit_id: id } = await work.call<{ edit_id: string }>('start_edit', { files: ['a'] });
    work.put({ a: `edited to ${end}` });
    await work.call(end, { edit_id: id });
  }
  work.put({ a: 'faster' });
  const { commit_id: commit } = await work.save('faster');
  await work.call('approve', {});
  work.put({ a: 'too fast' });
  await work.call('reset', {});
  await work.restore(commit);
  await work.call('undo', {});
  const { dialog_id: id } = await work.call<Opened>('create_dialog', { title: 'another' });
  await work.call('delete_dialog', { dialog_id: id });
}

describe('the cursor of an event', () => {
  it('is the sequence number of the ledger line it stands for', async () => {
    const work = await Work.start(newProject());
    const listener = await work.project.socket();
    expect((await listener.call('subscribe')).result?.['cursor']).toMatch(/^0(-|$)/u);
    work.put({ a: '0' });
    await workOn(work);
    const ledger = ledgerOf(work.project);
    const heard = linesOf(listener);
    expect(heard.map(({ cursor }) => cursor)).toEqual(ledger.map(({ seq }) => String(seq)));
    expect(heard.map(({ at }) => at)).toEqual(ledger.map(({ ts }) => ts));
    expect(new Set(heard.map(({ type }) => type))).toEqual(new Set(LINES));
  });

  it('of a change without a line names the line before it', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const listener = await work.project.socket();
    await listener.call('subscribe');
    const { seq } = allLines(work.project).at(-1) ?? {};
    await work.call('update_config', { maxCheckpointAge: 8 });
    const { cursor } = await listener.event('config_changed');
    expect(String(cursor).split('-')[0]).toBe(String(seq));
  });
});

describe('a subscriber that comes back', () => {
  const ways = {
    stopped: async ({ project }: Work) => {
      await project.cli(['stop']);
    },
    'killed with -9': async ({ project }: Work) => {
      const pid = project.daemonFile()?.pid ?? 0;
      signal(pid, 'SIGKILL');
      await until('the daemon is gone', () => !isAlive(pid));
    },
  };

  it.each(Object.entries(ways))(
    'after the daemon was %s gets every line once, as it would have come',
    async (_, end) => {
      const work = await Work.start(newProject());
      await work.fresh({ a: '0' });
      // One stays until the end, to say what would have come.
      const constant = await work.project.socket();
      await constant.call('subscribe');
      const first = await work.project.socket();
      await first.call('subscribe');
      await work.save('seen');
      const { cursor } = await first.event('checkpoint');
      first.destroy();
      await workOn(work);
      await constant.call('status');
      const missed = linesOf(constant).slice(1);
      expect(missed.length).toBeGreaterThan(10);
      await end(work);

      const again = await Work.start(work.project);
      await again.save('after the restart');
      const resumed = await again.project.socket();
      const { result } = await resumed.call('subscribe', { since: cursor });
      expect(result?.['gap']).toBe(false);
      await again.save('after coming back');
      await resumed.call('status');
      const got = linesOf(resumed);
      expect(got.slice(0, missed.length)).toEqual(missed);
      expect(got.slice(missed.length).map(({ message }) => message)).toEqual([
        'after the restart',
        'after coming back',
      ]);
      const all = ledgerOf(work.project).map(({ seq }) => String(seq));
      expect(got.map((event) => event['cursor'])).toEqual(
        all.slice(all.indexOf(String(cursor)) + 1),
      );
    },
  );

  it('hears of edits and checkpoints that happen at once in the order of their lines', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const listener = await work.project.socket();
    const { result } = await listener.call('subscribe');
    const edit = async (number: number): Promise<void> => {
      const files = [`file-${number}`];
      const { edit_id: id } = await work.call<{ edit_id: string }>('start_edit', { files });
      work.put({ [`file-${number}`]: `${number}` });
      await work.call('finalize_edit', { edit_id: id });
    };
    const numbers = Array.from({ length: 12 }, (_, at) => at);
    await Promise.all([
      ...numbers.map(edit),
      ...numbers.map((number) => work.save(`checkpoint ${number}`)),
    ]);
    await listener.call('status');
    const after = Number(String(result?.['cursor']).split('-')[0]);
    const told = ledgerOf(work.project).filter(({ seq }) => Number(seq) > after);
    expect(linesOf(listener).map(({ cursor }) => cursor)).toEqual(
      told.map(({ seq }) => String(seq)),
    );
  });

  it('after several restarts, each time from where it was, has the whole story once', async () => {
    const project = newProject();
    let since = '0';
    const story: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const work = await Work.start(project);
      const listener = await project.socket();
      const { result } = await listener.call('subscribe', { since });
      expect(result?.['gap']).toBe(false);
      await work.save(`seen in round ${round}`);
      await listener.call('status');
      const seen = linesOf(listener);
      story.push(...seen.map(({ cursor }) => cursor));
      since = String(seen.at(-1)?.['cursor']);
      listener.destroy();
      await work.save(`missed in round ${round}`);
      await project.cli(['stop']);
    }
    const all = ledgerOf(project).map(({ seq }) => String(seq));
    expect(story).toEqual(all.slice(0, -1));
  });

  it('from a hint of a daemon that is gone goes on after the line before it', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const listener = await work.project.socket();
    await listener.call('subscribe');
    await work.call('update_config', { maxCheckpointAge: 8 });
    const { cursor: since } = await listener.event('config_changed');
    await work.save('missed');
    await work.project.cli(['stop']);
    await work.project.startDaemon();
    const resumed = await work.project.socket();
    expect((await resumed.call('subscribe', { since })).result?.['gap']).toBe(false);
    expect(linesOf(resumed).map(({ message }) => message)).toEqual(['missed']);
    const types = resumed.received.map(({ event }) => event?.['type']);
    expect(types).not.toContain('config_changed');
  });

  it('gets a long history although it is slow to take it', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: '0' });
    const content = 'x'.repeat(900_000);
    for (let round = 0; round < 12; round++) await work.call('user_message', { content });
    await work.project.cli(['stop']);
    await work.project.startDaemon();
    const slow = await work.project.socket();
    slow.net.pause();
    slow.send(request(1, 'subscribe', { since: '0' }));
    const other = await work.project.socket();
    await other.call('status');
    slow.net.resume();
    await slow.answer(1);
    expect(linesOf(slow).filter(({ type }) => type === 'user')).toHaveLength(12);
  });
});

describe('a subscriber', () => {
  it('hears of what happens after it subscribed, and of nothing before', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('update_config', { maxCheckpointAge: 8 });
    const { result } = await socket.call('subscribe');
    expect(result).toEqual({ cursor: expect.any(String), gap: false });
    await socket.call('update_config', { http: { enabled: false } });
    const event = await socket.event('config_changed');
    expect(event).toEqual({
      type: 'config_changed',
      keys: ['http'],
      cursor: expect.any(String),
      at: expect.stringMatching(/Z$/u),
    });
    expect(event['cursor']).not.toBe(result?.['cursor']);
  });

  it('resumes from a cursor without losing or repeating an event', async () => {
    const project = newProject();
    await project.startDaemon();
    const first = await project.socket();
    const { result } = await first.call('subscribe');
    await first.call('update_config', { maxCheckpointAge: 11 });
    const { cursor } = await first.event('config_changed');
    first.destroy();

    const other = await project.socket();
    for (const age of [12, 13, 14]) await other.call('update_config', { maxCheckpointAge: age });
    const resumed = await project.socket();
    const answer = await resumed.call('subscribe', { since: cursor });
    expect(answer.result?.['gap']).toBe(false);
    await other.call('update_config', { maxCheckpointAge: 15 });
    const cursors = await until('four events have come', () => {
      const seen = resumed.received.filter(({ event }) => event !== undefined);
      return seen.length >= 4 ? seen.map(({ event }) => event?.['cursor']) : undefined;
    });
    expect(cursors).toHaveLength(4);
    expect(new Set(cursors).size).toBe(4);
    expect(cursors).not.toContain(cursor);

    const fromTheStart = await project.socket();
    await fromTheStart.call('subscribe', { since: result?.['cursor'] });
    const events = fromTheStart.received.filter(({ event }) => event !== undefined);
    expect(events.map(({ event }) => event?.['cursor'])).toEqual([cursor, ...cursors]);
  });

  it.each(['nonsense', '99999', 'abc-99999999999999999999', 'a'.repeat(200), '-', '__proto__'])(
    'is told of a gap when its cursor is %j',
    async (since) => {
      const project = newProject();
      await project.startDaemon();
      const socket = await project.socket();
      expect((await socket.call('subscribe', { since })).result?.['gap']).toBe(true);
    },
  );

  it('hears only of the types it asked for', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    await socket.call('subscribe', { types: ['shutting_down'] });
    await socket.call('update_config', { maxCheckpointAge: 8 });
    await project.cli(['stop']);
    await socket.event('shutting_down');
    expect(socket.received.filter(({ event }) => event !== undefined)).toHaveLength(1);
  });

  it('gets events in the envelope it subscribed in', async () => {
    const project = newProject();
    await project.startDaemon();
    const socket = await project.socket();
    socket.send(ipcRequest('subscribe', { id: 1 }));
    await socket.answer(1);
    await socket.call('update_config', { maxCheckpointAge: 8 });
    await socket.event('config_changed');
    const envelopes = socket.received
      .filter(({ event }) => event !== undefined)
      .map(({ envelope }) => envelope);
    expect(envelopes).toEqual(['node-ipc']);
  });
});
