import { describe, expect, it } from '@jest/globals';
import { processesOf } from '../support/processes.js';
import { projectsPerTest } from '../support/daemon-project.js';
import { script } from '../support/script.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();

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

  it('says that edits are not there yet', async () => {
    const project = newProject();
    const answer = await script<{ edit: unknown; wrote: boolean }>(
      project.root,
      `
      const client = await connect(root);
      let wrote = false;
      const edit = await outcome(client.withEdit(['a.ts'], async () => { wrote = true; }));
      await client.close();
      return { edit, wrote };
      `,
    );
    expect(answer).toMatchObject({ edit: { code: 'METHOD_NOT_FOUND' }, wrote: false });
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
      const end = await client.subscribe({}, (event) => heard.push(event.type));
      await client.shutdown();
      await until(() => heard.includes('shutting_down'));
      // Longer than the subscription waits before it looks again the first few times.
      await pause(1500);
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
