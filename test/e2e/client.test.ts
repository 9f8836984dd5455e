import { mkdirSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openWire } from '../../src/client/wire.js';
import { tryLock } from '../../src/host/lock.js';
import { processesOf, signal } from '../support/processes.js';
import { projectsPerTest } from '../support/daemon-project.js';
import { script } from '../support/script.js';
import { soon, until } from '../support/until.js';

const newProject = projectsPerTest();

describe('a connection', () => {
  it('is closed although the other side never hangs up', async () => {
    const folder = newProject().root;
    const server = createServer({ allowHalfOpen: true }, (socket) => sockets.push(socket));
    const sockets: Socket[] = [];
    await new Promise<void>((resolve) => server.listen(join(folder, 's'), resolve));
    try {
      const wire = await openWire(join(folder, 's'));
      wire.close();
      await soon('the end of the connection', wire.closed);
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });
});

describe('the client of the library', () => {
  it('starts the daemon, calls methods by their names and lets the program end', async () => {
    const project = newProject();
    const answer = await script<Record<string, unknown>>(
      project.root,
      `
      const client = await connect(root);
      const status = await client.status();
      const updated = await client.update_config({ edits: { ttlMs: 5 } });
      const read = await client.get_config();
      await client.close();
      return { root: status.root, updated: updated.edits.ttlMs, read: read.edits.ttlMs };
      `,
    );
    expect(answer).toEqual({ root: project.root, updated: 5, read: 5 });
    expect(processesOf(project.root)).toHaveLength(1);
  });

  it('says so when somebody has the lock and cannot be reached', async () => {
    const project = newProject();
    mkdirSync(project.path('run'), { recursive: true, mode: 0o700 });
    const lock = tryLock(project.path('run/lock'));
    const reaching = `return await connect(root, { timeoutMs: 1_000 }).then(
      (client) => client.close(), ({ code, message, hint }) => ({ code, message, hint }));`;
    try {
      expect(await script(project.root, reaching)).toEqual({
        code: 'BUSY',
        message: `A daemon of ${project.root} runs and cannot be reached.`,
        hint: expect.stringContaining('daemon.log'),
      });
    } finally {
      lock?.release();
    }
    expect((await project.status()).root).toBe(project.root);
  });

  it('starts none when it is told not to', async () => {
    const project = newProject();
    const answer = await script(project.root, `return outcome(connect(root, { start: false }));`);
    expect(answer).toMatchObject({ code: 'DAEMON_UNAVAILABLE', isSmithyError: true });
    expect(processesOf(project.root)).toEqual([]);
  });

  it('gives errors of the daemon by their names', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `
      const client = await connect(root);
      const wrong = await outcome(client.update_config({ maxCheckpointAg: 1 }));
      const unknown = await outcome(client.nonsense());
      await client.close();
      return { wrong, unknown };
      `,
    );
    expect(answer).toMatchObject({
      wrong: { code: 'INVALID_PARAMS', isSmithyError: true, hint: expect.stringContaining('Age') },
      unknown: { code: 'METHOD_NOT_FOUND', isSmithyError: true },
    });
  });

  it('fails a call the daemon cannot read, and goes on', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `
      const client = await connect(root);
      await client.update_config({ wire: { maxFrameBytes: 2048 } });
      const planted = await outcome(client.update_config(JSON.parse('{"__proto__":{"x":1}}')));
      const large = await outcome(client.update_config({ include: ['x'.repeat(4000)] }));
      const status = await client.status();
      await client.close();
      return { planted: planted.code, large: large.code, root: status.root };
      `,
    );
    expect(answer).toEqual({
      planted: 'PARSE_ERROR',
      large: 'FRAME_TOO_LARGE',
      root: project.root,
    });
  });

  it('starts another daemon when the one it knocks at is killed before it opens', async () => {
    const project = newProject();
    const { pid } = await project.startDaemon();
    // It cannot open any more, and its kernel still takes the call.
    signal(pid, 'SIGSTOP');
    const answer = await script<{ pid: number }>(
      project.root,
      `
      const { spawnSync } = await import('node:child_process');
      const connecting = connect(root);
      for (let turn = 0; turn < 100; turn++) await undefined;
      process.kill(${pid}, 'SIGKILL');
      // In one go: what became of the call is read when nobody is there any more.
      const isGone = "! test -e /proc/${pid} || grep -qs '^State:.Z' /proc/${pid}/status";
      spawnSync('sh', ['-c', 'until ' + isGone + '; do :; done']);
      const client = await connecting;
      const { pid } = await client.status();
      await client.close();
      return { pid };
      `,
    );
    expect(answer.pid).not.toBe(pid);
  });

  it('comes back after a kill -9 over one connection, for many calls at once', async () => {
    const project = newProject();
    const answer = await script<{ before: number; after: number[]; connections: number }>(
      project.root,
      `
      const client = await connect(root);
      const { pid } = await client.status();
      process.kill(pid, 'SIGKILL');
      // A call may still hit the dying connection: it is told so, and may be repeated.
      let all;
      do all = await Promise.all([1, 2, 3, 4, 5].map(() => outcome(client.status())));
      while (all.some(({ code }) => code === 'DAEMON_UNAVAILABLE'));
      const { readFileSync } = await import('node:fs');
      const lines = readFileSync('/proc/net/unix', 'utf8').split('\\n');
      const connections = lines.filter((line) => line.endsWith(root + '/.agentsmithy/run/smithyd.sock'));
      await client.close();
      // The one that listens has a line as well.
      return { before: pid, after: all.map(({ value }) => value.pid), connections: connections.length - 1 };
      `,
    );
    expect(new Set(answer.after).size).toBe(1);
    expect(answer.after[0]).not.toBe(answer.before);
    expect(answer.connections).toBe(1);
    expect(processesOf(project.root)).toEqual([answer.after[0]]);
  });

  it('gives up a call after its time', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `
      const client = await connect(root, { timeoutMs: 3000 });
      const { pid } = await client.status();
      process.kill(pid, 'SIGSTOP');
      const late = await outcome(client.status());
      process.kill(pid, 'SIGCONT');
      await client.close();
      return late;
      `,
    );
    expect(answer).toMatchObject({ code: 'TIMEOUT', isSmithyError: true });
  });

  it('refuses calls after it was closed', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `
      const client = await connect(root);
      await client.close();
      await client.close();
      return outcome(client.status());
      `,
    );
    expect(answer).toMatchObject({ code: 'DAEMON_UNAVAILABLE' });
  });
});

describe('an edit of the library', () => {
  const prelude = `
    const { readFileSync, writeFileSync, existsSync } = await import('node:fs');
    writeFileSync(root + '/a.txt', 'one\\n');
    const client = await connect(root);
    await client.create_checkpoint({});
  `;

  it('records what was written and gives back the result and the account of it', async () => {
    const project = newProject();
    const answer = await script<Record<string, unknown>>(
      project.root,
      `${prelude}
      const outcome = await client.withEdit(['a.txt', 'new.txt'], async (edit) => {
        writeFileSync(root + '/a.txt', 'two\\n');
        writeFileSync(root + '/new.txt', 'new\\n');
        return edit.files;
      });
      const { edits } = await client.list_edits();
      const { lines } = await client.blame({ path: 'a.txt' });
      await client.close();
      return { ...outcome, open: edits.length, by: lines.map(({ by }) => by) };
      `,
    );
    expect(answer).toMatchObject({
      result: [
        { path: 'a.txt', exists: true },
        { path: 'new.txt', exists: false, hash: null },
      ],
      edit: {
        files: [
          { path: 'a.txt', change: 'modified', additions: 1, deletions: 1 },
          { path: 'new.txt', change: 'created' },
        ],
      },
      open: 0,
      by: [expect.stringMatching(/^dialog:/u)],
    });
  });

  it('takes the scope of the project and the options of start_edit', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `${prelude}
      const { edit } = await client.withEdit({ scope: 'project', tool: 'gen' }, () => {
        writeFileSync(root + '/gen.txt', 'x\\n');
      });
      const stale = await outcome(
        client.withEdit({ files: ['a.txt'], expect: { 'a.txt': '0'.repeat(40) } }, () => 'never'),
      );
      const { lines } = await client.blame({ path: 'gen.txt' });
      await client.close();
      return { files: edit.files.map(({ path }) => path), stale: stale.code, by: lines[0].by };
      `,
    );
    expect(answer).toEqual({ files: ['gen.txt'], stale: 'STALE_READ', by: 'command:gen' });
  });

  it('puts the files back when the work throws, and throws its error on', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `${prelude}
      const thrown = new TypeError('mine');
      const caught = await client.withEdit(['a.txt', 'new.txt'], async () => {
        writeFileSync(root + '/a.txt', 'two\\n');
        writeFileSync(root + '/new.txt', 'new\\n');
        throw thrown;
      }).catch((error) => error);
      const { edits } = await client.list_edits();
      await client.close();
      return {
        same: caught === thrown,
        a: readFileSync(root + '/a.txt', 'utf8'),
        made: existsSync(root + '/new.txt'),
        open: edits.length,
      };
      `,
    );
    expect(answer).toEqual({ same: true, a: 'one\n', made: false, open: 0 });
  });

  it('is kept when the daemon dies in the middle and another takes its place', async () => {
    const project = newProject();
    const answer = await script(
      project.root,
      `${prelude}
      const { pid } = await client.status();
      const { edit } = await client.withEdit(['a.txt'], () => {
        writeFileSync(root + '/a.txt', 'two\\n');
        process.kill(pid, 'SIGKILL');
      });
      const thrown = await client.withEdit(['a.txt'], async () => {
        writeFileSync(root + '/a.txt', 'three\\n');
        process.kill((await client.status()).pid, 'SIGKILL');
        throw new Error('mine');
      }).catch((error) => error.message);
      const { edits } = await client.list_edits();
      await client.close();
      return { files: edit.files, thrown, a: readFileSync(root + '/a.txt', 'utf8'), open: edits.length };
      `,
    );
    expect(answer).toMatchObject({
      files: [{ path: 'a.txt', change: 'modified' }],
      thrown: 'mine',
      a: 'two\n',
      open: 0,
    });
  });

  it('does not depend on the connection of other calls, and many run side by side', async () => {
    const project = newProject();
    const answer = await script<{ changed: string[]; conflict: string }>(
      project.root,
      `${prelude}
      const names = Array.from({ length: 20 }, (_, at) => 'file-' + at + '.txt');
      const all = await Promise.all(names.map((name) => client.withEdit([name], async () => {
        writeFileSync(root + '/' + name, name);
        await client.status();
      })));
      const held = await client.withEdit(['a.txt'], () => outcome(client.withEdit(['a.txt'], () => 1)));
      const waited = client.withEdit(['a.txt'], async () => { writeFileSync(root + '/a.txt', 'first'); });
      const second = client.withEdit({ files: ['a.txt'], wait_ms: 60000 }, () => readFileSync(root + '/a.txt', 'utf8'));
      await Promise.all([waited, second]);
      await client.close();
      const after = await outcome(client.withEdit(['a.txt'], () => 1));
      return {
        changed: all.map(({ edit }) => edit.files[0].change),
        conflict: held.result.code,
        after: after.code,
      };
      `,
    );
    expect(answer).toEqual({
      changed: Array.from({ length: 20 }, () => 'created'),
      conflict: 'EDIT_CONFLICT',
      after: 'DAEMON_UNAVAILABLE',
    });
  });
});

describe('a subscription of the library', () => {
  it('goes on across a restart of the daemon', async () => {
    const project = newProject();
    const answer = await script<{ keys: string[][] }>(
      project.root,
      `
      const client = await connect(root);
      const keys = [];
      const end = await client.subscribe({ types: ['config_changed'] }, (event) => keys.push(event.keys));
      await client.update_config({ maxCheckpointAge: 8 });
      await until(() => keys.length === 1);
      const { pid } = await client.status();
      process.kill(pid, 'SIGKILL');
      await until(async () => (await outcome(client.status())).value !== undefined);
      // The subscription comes back by itself; changes go on until it has seen one.
      for (let age = 9; keys.length === 1; age++) {
        await client.update_config({ maxCheckpointAge: age });
        await pause(20);
      }
      await end();
      await client.close();
      return { keys };
      `,
    );
    expect(answer.keys.length).toBeGreaterThanOrEqual(2);
    for (const keys of answer.keys) expect(keys).toEqual(['maxCheckpointAge']);
  });

  it('does not start a daemon again that was stopped', async () => {
    const project = newProject();
    const answer = await script<{ isBack: boolean; heard: string[] }>(
      project.root,
      `
      const client = await connect(root);
      const heard = [];
      const { existsSync, readFileSync, rmSync } = await import('node:fs');
      const file = root + '/.agentsmithy/run/daemon.json';
      const told = JSON.parse(readFileSync(file, 'utf8'));
      const end = await client.subscribe({}, (event) => heard.push(event.type));
      await client.shutdown();
      await until(() => heard.includes('shutting_down'));
      // Somebody else in its place, who counts how often the subscription looks for it.
      let looks = 0;
      const { createServer } = await import('node:net');
      const { writeFileSync } = await import('node:fs');
      const other = createServer((socket) => { looks++; socket.destroy(); });
      await until(() => !existsSync(told.socket));
      await new Promise((resolve) => other.listen(told.socket, resolve));
      writeFileSync(file, JSON.stringify(told), { mode: 0o600 });
      await until(() => looks >= 3);
      other.close();
      rmSync(file);
      const isBack = (await outcome(connect(root, { start: false }))).code === undefined;
      await end();
      await client.close();
      return { isBack, heard };
      `,
    );
    expect(answer).toEqual({ isBack: false, heard: ['shutting_down'] });
    await until('none runs', () => processesOf(project.root).length === 0);
  });

  it('ends with its client', async () => {
    const project = newProject();
    const heard = await script<string[]>(
      project.root,
      `
      const client = await connect(root);
      const heard = [];
      await client.subscribe({}, (event) => heard.push(event.type));
      await client.close();
      const other = await connect(root);
      await other.update_config({ maxCheckpointAge: 8 });
      await other.close();
      return heard;
      `,
    );
    expect(heard).toEqual([]);
  });
});
