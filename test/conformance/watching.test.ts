import { createHash } from 'node:crypto';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest } from '../support/daemon-project.js';
import { signal } from '../support/processes.js';
import type { RawSocket } from '../support/raw-socket.js';
import { sharedWork, Work } from '../support/work.js';

const newProject = projectsPerTest();

/** The same number of bytes, and the time of before: what only the system's own time betrays. */
function replaceUnseen(path: string, content: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, content);
  utimesSync(path, atime, mtime);
}

/** As git names it; git itself for each round would take most of the time. */
const blobId = (content: string): string =>
  createHash('sha1').update(`blob ${content.length}\0${content}`).digest('hex');

const heard = (socket: RawSocket): unknown[] =>
  socket.received.flatMap(({ event }) => (event === undefined ? [] : [event['type']]));

describe('what could be missed', () => {
  const shared = sharedWork();

  it('75: a queue of events that ran over is said, scanned for, and nothing is lost', async () => {
    const work = await Work.start(newProject());
    // Of a folder that comes later nobody hears how it fills.
    await work.fresh({ a: '0', 'many/first': '0' });
    const listener = await work.project.socket();
    await listener.call('subscribe', {});
    // Two events for each file, and the daemon stands still meanwhile.
    const limit = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'));
    const count = Math.min(30_000, Math.ceil(limit * 0.6));
    const pid = work.project.daemonFile()?.pid ?? 0;
    signal(pid, 'SIGSTOP');
    try {
      for (let number = 0; number < count; number++) work.put({ [`many/f${number}`]: 'x' });
      work.put({ a: '1' });
    } finally {
      signal(pid, 'SIGCONT');
    }
    const { commit_id: commit, changed } = await work.save();
    expect(changed).toEqual({ added: count, modified: 1, deleted: 0 });
    expect((await work.content(commit, 'a')).toString()).toBe('1');
    // Only a queue that really ran over must have been noticed.
    if (2 * count > limit) expect(heard(listener)).toContain('watch_desynced');
    const { watcher } = await work.call<{ watcher: { fresh: boolean } }>('status');
    expect(watcher.fresh).toBe(true);
  }, 240_000);

  it('76: an edit of the same size with the old time is seen, live and offline', async () => {
    const work = await Work.start(newProject());
    await work.fresh({ a: 'aaaa', b: 'aaaa' });
    // A time that can be given back to the last digit.
    for (const path of ['a', 'b']) utimesSync(work.at(path), 1_700_000_000, 1_700_000_000);
    await work.save();
    replaceUnseen(work.at('a'), 'bbbb');
    expect(statSync(work.at('a')).mtimeMs).toBe(1_700_000_000_000);
    const live = await work.save();
    expect((await work.content(live.commit_id, 'a')).toString()).toBe('bbbb');
    await work.project.cli(['stop']);
    replaceUnseen(work.at('b'), 'cccc');
    const again = await Work.start(work.project);
    const offline = await again.save();
    expect(offline.changed).toEqual({ added: 0, modified: 1, deleted: 0 });
    expect((await again.content(offline.commit_id, 'b')).toString()).toBe('cccc');
  });

  it('76: edits of the same size within one tick of the clock are all seen', async () => {
    const work = shared();
    await work.fresh({ a: '000' });
    for (let round = 0; round < 200; round++) {
      const content = String(round).padStart(3, '0');
      writeFileSync(work.at('a'), content);
      const { files } = await work.call<{ files: { hash: string }[] }>('known_files', {
        paths: ['a'],
      });
      expect(files[0]?.hash).toBe(blobId(content));
    }
  });
});

describe('paths of callers', () => {
  const shared = sharedWork();

  const ODD: readonly (readonly [string, string])[] = [
    ['../x', 'PATH_OUTSIDE_ROOT'],
    ['d/../../x', 'PATH_OUTSIDE_ROOT'],
    ['/etc/passwd', 'PATH_OUTSIDE_ROOT'],
    ['.git/config', 'PATH_PROTECTED'],
    ['d/.GIT/config', 'PATH_PROTECTED'],
    ['.git./config', 'PATH_PROTECTED'],
    ['.git /config', 'PATH_PROTECTED'],
    ['GIT~1/config', 'PATH_PROTECTED'],
    ['.g\u200cit/config', 'PATH_PROTECTED'],
    ['.agentsmithy/run/token', 'PATH_PROTECTED'],
    ['.AgentSmithy/config.json', 'PATH_PROTECTED'],
  ];

  it.each(ODD)('89: %j is refused by every method that takes paths', async (path, code) => {
    const work = shared();
    const { initial_checkpoint: first } = await work.fresh({ 'd/a': '0' });
    work.put({ 'd/a': '1' });
    const before = work.disk();
    const calls: readonly (readonly [string, object])[] = [
      ['start_edit', { files: [path] }],
      ['start_edit', { files: ['d/a', path] }],
      ['restore', { checkpoint_id: first, paths: [path] }],
      ['restore', { checkpoint_id: first, paths: [path], dry_run: true }],
      ['show', { at: first, path }],
      ['blame', { path }],
      ['diff', { from: first, paths: [path] }],
      ['detect_unknown_modifications', { files: [path] }],
      ['validate_files', { files: [path] }],
      ['handle_unknown_changes', { files: [path], strategy: 'reject' }],
      ['create_file_checkpoint', { files: [path] }],
    ];
    const answers: unknown[] = [];
    for (const [method, params] of calls) {
      const { error } = await work.answer(method, params);
      answers.push([method, error?.data['code']]);
    }
    expect(answers).toEqual(calls.map(([method]) => [method, code]));
    expect(work.disk()).toEqual(before);
  });
});
