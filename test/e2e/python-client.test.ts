import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { CLI, REPOSITORY, projectsPerTest, type Project } from '../support/daemon-project.js';
import { processesOf, run } from '../support/processes.js';
import { hasPython } from '../support/terminal.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();
const withPython = hasPython ? describe : describe.skip;

/**
 * Runs a Python program against the client, as it is copied into a project. `root`, the command in
 * `smithyd` and every public name are in scope; what it puts into `answer` comes back.
 */
async function python<T>(project: Project, body: string): Promise<T> {
  const source = [
    'import json, os, sys, threading, time',
    'from smithyd import *',
    'root, smithyd, answer = sys.argv[1], json.loads(sys.argv[2]), {}',
    'def put(name, text):',
    '    with open(os.path.join(root, name), "w") as file: file.write(text)',
    'def read(name):',
    '    with open(os.path.join(root, name)) as file: return file.read()',
    'def code_of(call):',
    '    try: call()',
    '    except SmithydError as error: return [type(error).__name__, error.code]',
    body.replace(/^ {6}/gmu, ''),
    'print(json.dumps(answer))',
  ].join('\n');
  const command = JSON.stringify([process.execPath, CLI]);
  const { code, stdout, stderr } = await run(['python3', '-c', source, project.root, command], {
    env: { PYTHONPATH: join(REPOSITORY, 'templates/python'), PYTHONDONTWRITEBYTECODE: '1' },
  });
  if (code !== 0) throw new Error(`the program ended with ${code ?? 'a signal'}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

withPython('the Python client (needs python3)', () => {
  it('starts the daemon, makes checkpoints, restores, approves and resets', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      put('a.txt', 'one\\n')
      tracker = VersioningTracker(root, smithyd=smithyd)
      first = tracker.create_checkpoint('first')
      put('a.txt', 'two\\n')
      second = tracker.create_checkpoint('second')
      answer['restored'] = tracker.restore_checkpoint(first.commit_id)['restored']
      answer['after_restore'] = read('a.txt')
      answer['approved'] = tracker.approve_all('good')
      put('a.txt', 'three\\n')
      answer['reset'] = tracker.reset_to_approved()['restored']
      answer['after_reset'] = read('a.txt')
      answer['messages'] = [first.message, second.message]
      answer['is_info'] = isinstance(first, CheckpointInfo) and len(first.commit_id) == 40
      log = tracker.client.call('list_checkpoints')['checkpoints']
      answer['log'] = [one['message'] for one in log if one['commit_id'] == second.commit_id]
      tracker.close()
      `,
    );
    expect(answer).toMatchObject({
      restored: ['a.txt'],
      after_restore: 'one\n',
      approved: { approved_commit: expect.any(String), new_session: expect.any(String) },
      reset: ['a.txt'],
      after_reset: 'one\n',
      messages: ['first', 'second'],
      is_info: true,
      log: ['second'],
    });
    expect(processesOf(project.root)).toHaveLength(1);
  });

  it('works in the dialog it is given', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      client = Client(root, smithyd=smithyd)
      one = client.call('create_dialog', title='one')['dialog_id']
      two = client.call('create_dialog', title='two')['dialog_id']
      put('a.txt', 'x')
      info = VersioningTracker(root, one, client=client).create_checkpoint('mine')
      for dialog in (one, two):
          log = client.call('list_checkpoints', dialog_id=dialog)['checkpoints']
          answer[dialog == one] = info.commit_id in [each['commit_id'] for each in log]
      answer['wrong'] = code_of(lambda: VersioningTracker(root, 'nonsense', client=client).create_checkpoint('x'))
      `,
    );
    expect(answer).toEqual({
      true: true,
      false: false,
      wrong: ['NotFoundError', 'DIALOG_NOT_FOUND'],
    });
  });

  it('brackets the writes of a tool: finalize keeps them, abort puts everything back', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      put('a.txt', 'one\\n')
      tracker = VersioningTracker(root, agent='smith', smithyd=smithyd)
      tracker.create_checkpoint('begin')
      before = tracker.client.call('list_checkpoints')
      edit = tracker.start_edit(['a.txt', os.path.join(root, 'new.txt')])
      answer['files'] = [[file['path'], file['exists']] for file in edit.files]
      answer['second'] = code_of(lambda: tracker.start_edit(['b.txt']))
      put('a.txt', 'two\\n')
      put('new.txt', 'n\\n')
      answer['kept'] = [[file['path'], file['change']] for file in tracker.finalize_edit()['files']]
      answer['by'] = tracker.client.call('blame', path='a.txt')['lines'][0]['by']
      tracker.start_edit('a.txt')
      put('a.txt', 'three\\n')
      answer['aborted'] = tracker.abort_edit()['restored']
      answer['a'] = read('a.txt')
      answer['again'] = tracker.abort_edit()
      answer['nothing'] = code_of(tracker.finalize_edit)
      answer['no_checkpoints'] = before == tracker.client.call('list_checkpoints')
      answer['open'] = tracker.client.call('list_edits')['edits']
      `,
    );
    expect(answer).toEqual({
      files: [
        ['a.txt', true],
        ['new.txt', false],
      ],
      second: ['SmithydError', 'INVALID_REQUEST'],
      kept: [
        ['a.txt', 'modified'],
        ['new.txt', 'created'],
      ],
      by: 'agent:smith',
      aborted: ['a.txt'],
      a: 'two\n',
      again: null,
      nothing: ['SmithydError', 'EDIT_NOT_FOUND'],
      no_checkpoints: true,
      open: [],
    });
  });

  it('does the same with a with statement, for files and for the whole project', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      put('a.txt', 'one\\n')
      tracker = VersioningTracker(root, smithyd=smithyd)
      with tracker.edit(['a.txt']) as edit:
          put('a.txt', 'two\\n')
      answer['changes'] = [[c['path'], c['additions'], c['deletions']] for c in edit.changes]
      try:
          with tracker.edit(['a.txt', 'new.txt']) as edit:
              put('a.txt', 'three\\n')
              put('new.txt', 'n\\n')
              raise KeyboardInterrupt('mine')
      except KeyboardInterrupt as error:
          answer['raised'] = str(error)
      answer['a'] = read('a.txt')
      answer['removed'] = edit.answer['removed']
      with tracker.edit(tool='make', wait_ms=10) as edit:
          put('made.txt', 'm\\n')
      answer['project'] = [change['path'] for change in edit.changes]
      with tracker.edit('a.txt') as edit:
          edit.abort()
      answer['open'] = tracker.client.call('list_edits')['edits']
      `,
    );
    expect(answer).toEqual({
      changes: [['a.txt', 1, 1]],
      raised: 'mine',
      a: 'two\n',
      removed: ['new.txt'],
      project: ['made.txt'],
      open: [],
    });
  });

  it('tells failures by their names, with a hint and the details', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      put('a.txt', 'one\\n')
      tracker, other = (VersioningTracker(root, smithyd=smithyd, agent=name) for name in ('x', 'y'))
      with tracker.edit(['a.txt']):
          try:
              other.start_edit(['a.txt'])
          except EditConflictError as error:
              answer['holder'] = error.data['holder']['agent']['name']
              answer['hint'] = bool(error.hint) and error.hint in str(error)
          answer['after'] = other.abort_edit()
      client = tracker.client
      answer['stale'] = code_of(lambda: tracker.edit(['a.txt'], expect={'a.txt': '0' * 40}))
      answer['outside'] = code_of(lambda: tracker.edit(['../a.txt']))
      answer['method'] = code_of(lambda: client.call('nonsense'))
      answer['params'] = code_of(lambda: client.call('status', nonsense=1))
      answer['checkpoint'] = code_of(lambda: tracker.restore_checkpoint('0' * 40))
      client.call('update_config', unknownChangeStrategy='strict')
      put('a.txt', 'two\\n')
      answer['unknown'] = code_of(lambda: tracker.edit(['a.txt']))
      `,
    );
    expect(answer).toEqual({
      holder: 'x',
      hint: true,
      after: null,
      stale: ['StaleReadError', 'STALE_READ'],
      outside: ['SmithydError', 'PATH_OUTSIDE_ROOT'],
      method: ['NotFoundError', 'METHOD_NOT_FOUND'],
      params: ['SmithydError', 'INVALID_PARAMS'],
      checkpoint: ['NotFoundError', 'CHECKPOINT_NOT_FOUND'],
      unknown: ['UnknownChangesError', 'UNKNOWN_CHANGES'],
    });
  });

  it('starts nothing when it may not or cannot, and says so', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      os.environ['PATH'] = '/nowhere'
      answer['may_not'] = code_of(lambda: Client(root, start=False).call('status'))
      answer['no_command'] = code_of(lambda: Client(root).call('status'))
      answer['wrong_command'] = code_of(lambda: Client(root, smithyd='/nowhere/smithyd').call('status'))
      answer['refused'] = code_of(lambda: Client('/', smithyd=smithyd).call('status'))
      `,
    );
    const unavailable = ['DaemonUnavailableError', 'DAEMON_UNAVAILABLE'];
    expect(answer).toMatchObject({
      may_not: unavailable,
      no_command: unavailable,
      wrong_command: unavailable,
    });
    expect(answer).not.toMatchObject({ refused: unavailable });
    expect(existsSync(project.path())).toBe(false);
  });

  it('comes back after the daemon was killed or stopped', async () => {
    const project = newProject();
    const answer = await python<{ pids: number[]; settled: unknown }>(
      project,
      `
      import signal, subprocess
      put('a.txt', 'one\\n')
      tracker = VersioningTracker(root, smithyd=smithyd)
      pids = answer['pids'] = []
      def pid(): return tracker.client.call('status')['pid']
      pids.append(pid())
      subprocess.run(smithyd + ['--root', root, 'stop'], check=True, stdout=subprocess.DEVNULL)
      pids.append(pid())
      tracker.start_edit(['a.txt'])
      put('a.txt', 'two\\n')
      os.kill(pids[-1], signal.SIGKILL)
      # The call may still hit the dying connection; it is told so and may be repeated.
      while True:
          try:
              answer['settled'] = tracker.finalize_edit()['files'][0]['change']
              break
          except DaemonUnavailableError:
              continue
      pids.append(pid())
      `,
    );
    expect(answer.settled).toBe('modified');
    expect(new Set(answer.pids).size).toBe(3);
  });

  it('that dies in the middle of an edit has the files put back', async () => {
    const project = newProject();
    await project.startDaemon();
    writeFileSync(join(project.root, 'a.txt'), 'one\n');
    const died = python(
      project,
      `
      tracker = VersioningTracker(root, smithyd=smithyd)
      tracker.start_edit(['a.txt', 'new.txt'])
      put('a.txt', 'two\\n')
      put('new.txt', 'n\\n')
      tracker.client.call('status')
      os.kill(os.getpid(), 9)
      `,
    );
    await expect(died).rejects.toThrow('a signal');
    await until('the files are back', async () => {
      const { edits } = await project.json<{ edits: unknown[] }>(['edit', 'list']);
      return edits.length === 0;
    });
    expect(readFileSync(join(project.root, 'a.txt'), 'utf8')).toBe('one\n');
    expect(existsSync(join(project.root, 'new.txt'))).toBe(false);
  });

  it('serves threads and forks, large answers and answers that come late', async () => {
    const project = newProject();
    const answer = await python(
      project,
      `
      shared, wrong = Client(root, smithyd=smithyd), []
      def work(name):
          tracker = VersioningTracker(root, client=shared if name % 2 else None, smithyd=smithyd)
          try:
              for turn in range(5):
                  with tracker.edit(['file-%d.txt' % name]) as edit:
                      put('file-%d.txt' % name, str(turn))
                  if [c['path'] for c in edit.changes] != ['file-%d.txt' % name]: wrong.append(edit.answer)
          except BaseException as error: wrong.append(repr(error))
      threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
      for thread in threads: thread.start()
      for thread in threads: thread.join()
      answer['wrong'] = wrong
      child = os.fork()
      if child == 0:
          os._exit(0 if shared.call('status')['root'] == root else 1)
      answer['parent'] = shared.call('status')['root'] == root
      answer['child'] = os.waitpid(child, 0)[1]
      put('large.txt', ('x' * 99 + '\\n') * 2200)
      answer['large'] = len(shared.call('detect_unknown_modifications').get('generatedDiff', '')) > 200000
      shared.timeout = 0.000001
      answer['late'] = code_of(lambda: shared.call('rescan'))
      shared.timeout = 60.0
      answer['next'] = shared.call('status')['root'] == root
      `,
    );
    expect(answer).toEqual({
      wrong: [],
      parent: true,
      child: 0,
      large: true,
      late: ['SmithydError', 'TIMEOUT'],
      next: true,
    });
  });

  it('finds the project through a link, and paths below it', async () => {
    const project = newProject((folder) => folder);
    const link = `${project.root}-link`;
    symlinkSync(project.root, link);
    try {
      const answer = await python(
        project,
        `
        link = root + '-link'
        tracker = VersioningTracker(link, smithyd=smithyd)
        with tracker.edit([os.path.join(link, 'a.txt'), os.path.join(root, 'b.txt')]) as edit: put('a.txt', 'x')
        answer['paths'] = [file['path'] for file in edit.files]
        `.replace(/^ {8}/gmu, '      '),
      );
      expect(answer).toEqual({ paths: ['a.txt', 'b.txt'] });
    } finally {
      await run(['rm', link]);
    }
  });
});
