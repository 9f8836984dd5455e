import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { codeOf, HttpClient } from '../support/http.js';
import { argumentsOf } from '../support/processes.js';
import { until } from '../support/until.js';

const newProject = projectsPerTest();
const commit = expect.stringMatching(/^[0-9a-f]{40}$/u);

async function served(): Promise<{ project: Project; http: HttpClient }> {
  const project = newProject();
  writeFileSync(join(project.root, 'a.txt'), 'one\n');
  await project.startDaemon();
  return { project, http: new HttpClient(project) };
}

describe('a client written from the document', () => {
  it('sees, approves, resets and restores a session over the routes', async () => {
    const { project, http } = await served();
    const file = join(project.root, 'a.txt');
    const { json: dialog } = await http.ask('/api/dialogs', { body: { title: 'Over HTTP' } });
    const id = String(dialog['dialog_id']);
    expect((await http.ask('/api/dialogs')).json).toMatchObject({
      current_dialog_id: id,
      dialogs: [{ id, title: 'Over HTTP', active_session: 'session_1' }],
    });
    const at = `/api/dialogs/${id}`;
    expect((await http.ask(`${at}/session`)).json).toMatchObject({
      active_session: null,
      session_ref: null,
      has_unapproved: false,
      last_approved_at: null,
    });

    writeFileSync(file, 'two\n');
    const { json: saved } = await http.rpc('user_message', { content: 'go on', dialog_id: id });
    writeFileSync(file, 'three\n');
    expect((await http.ask(`${at}/session`)).json).toMatchObject({
      active_session: 'session_1',
      session_ref: 'refs/heads/session_1',
      has_unapproved: true,
    });
    const list = await http.ask(`${at}/checkpoints?limit=1`);
    expect(list.json).toMatchObject({
      dialog_id: id,
      initial_checkpoint: dialog['initial_checkpoint'],
      checkpoints: [{ commit_id: saved['checkpoint'], message: 'Before user message: go on' }],
    });

    const restored = await http.ask(`${at}/restore`, {
      body: { checkpoint_id: dialog['initial_checkpoint'] },
    });
    expect(restored.json).toMatchObject({
      restored_to: dialog['initial_checkpoint'],
      new_checkpoint: commit,
    });
    expect(readFileSync(file, 'utf8')).toBe('one\n');

    writeFileSync(file, 'four\n');
    const approved = await http.ask(`${at}/approve`, { body: { message: 'Good' } });
    expect(approved).toMatchObject({ status: 200 });
    expect(approved.json).toEqual({
      approved_commit: commit,
      new_session: 'session_2',
      commits_approved: expect.any(Number),
    });
    writeFileSync(file, 'five\n');
    // As the document has it: no body, and so no type of one.
    const reset = await http.ask(`${at}/reset`, { method: 'POST' });
    expect(reset.json).toMatchObject({
      reset_to: approved.json['approved_commit'],
      new_session: 'session_3',
    });
    expect(readFileSync(file, 'utf8')).toBe('four\n');
  });

  it('is told errors by name, with a status and what to do', async () => {
    const { http } = await served();
    const missing = await http.ask('/api/dialogs/NOSUCHDIALOG/session');
    expect(missing.status).toBe(404);
    expect(missing.json['error']).toMatchObject({
      code: 'DIALOG_NOT_FOUND',
      message: expect.any(String),
      hint: expect.any(String),
    });
    const wrong = await http.rpc('user_message', { contnt: 'x' });
    expect(wrong.status).toBe(400);
    expect(wrong.json['error']).toMatchObject({
      code: 'INVALID_PARAMS',
      issues: expect.arrayContaining([expect.objectContaining({ path: 'contnt' })]),
    });
    expect(codeOf(await http.rpc('stauts'))).toBe('METHOD_NOT_FOUND');
    // Stopping the daemon is for whoever can reach its socket.
    expect((await http.rpc('shutdown')).status).toBe(404);
    const twice = await http.ask('/api/dialogs/x/approve', { body: { dialog_id: 'y' } });
    expect([twice.status, codeOf(twice)]).toEqual([400, 'INVALID_PARAMS']);
  });
});

describe('what a scraper and a supervisor ask', () => {
  it('is answered with the text of get_metrics and with a word about health', async () => {
    const { http } = await served();
    const metrics = await http.ask('/metrics');
    expect(metrics.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(metrics.text).toContain('# TYPE events_written_total counter');
    expect((await http.ask('/healthz')).json).toMatchObject({ ok: true });
  });
});

describe('an edit announced over HTTP', () => {
  it('outlives its request and is tied to its time to live', async () => {
    const { project, http } = await served();
    const { json: edit } = await http.rpc('start_edit', { files: ['a.txt'], detached: false });
    writeFileSync(join(project.root, 'a.txt'), 'edited\n');
    const { json: list } = await http.rpc('list_edits');
    expect(list['edits']).toMatchObject([
      { edit_id: edit['edit_id'], state: 'open', expires_at: expect.any(String) },
    ]);
    const { json: done } = await http.rpc('finalize_edit', { edit_id: edit['edit_id'] });
    expect(done['files']).toMatchObject([{ path: 'a.txt', change: 'modified' }]);
  });
});

describe('the settings for HTTP', () => {
  it('switch it off, move it and switch it on while the daemon runs', async () => {
    const { project, http } = await served();
    expect((await http.rpc('update_config', { http: { enabled: false } })).status).toBe(200);
    await until('the port is closed', () =>
      http.bare('/healthz').then(
        () => false,
        () => true,
      ),
    );
    expect(project.daemonFile()).toMatchObject({ http: null });
    const refused = await project.cli(['open', '--print']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('switched off')]);
    await project.cli(['config', 'set', 'http.enabled', 'true']);
    expect((await new HttpClient(project).ask('/healthz')).status).toBe(200);
  });

  it('with a port that is taken keep nothing else from working, and status says so', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await until('the other server listens', () => other.listening);
    const { port } = other.address() as AddressInfo;
    const project = newProject();
    mkdirSync(project.path(), { mode: 0o700 });
    writeFileSync(project.path('config.json'), JSON.stringify({ http: { port } }));
    await project.startDaemon();
    const { warnings } = await project.status();
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`port ${port}.*EADDRINUSE`, 'u'))]);
    expect(project.daemonFile()).toMatchObject({ http: null });
    other.close();
  });

  it('never make it listen on more than loopback', async () => {
    const { http } = await served();
    const hex = http.port.toString(16).toUpperCase().padStart(4, '0');
    const tables = ['/proc/net/tcp', '/proc/net/tcp6'].filter((table) => existsSync(table));
    const listening = tables
      .flatMap((table) => readFileSync(table, 'utf8').split('\n'))
      .map((line) => line.trim().split(/\s+/u))
      .filter(([, local, , state]) => state === '0A' && local?.endsWith(`:${hex}`) === true);
    expect(listening.map(([, local]) => local)).toEqual([`0100007F:${hex}`]);
  });
});

describe('opening a browser', () => {
  interface Invitation {
    readonly url: string;
  }

  it('exchanges an address that works once for a cookie that only our own page can use', async () => {
    const { project, http } = await served();
    await http.rpc('create_dialog', { title: '<script>alert(1)</script>' });
    const { url } = await project.json<Invitation>(['open']);
    expect(url).not.toContain(http.token);
    const path = url.slice(http.url.length);
    // As a browser that was led there by a file does it.
    const opened = await http.bare(path, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect(opened).toMatchObject({ status: 200, headers: { refresh: '0; url=/' } });
    const [set = ''] = opened.headers['set-cookie'] ?? [];
    expect(set).toMatch(/^smithyd_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/u);
    expect(set).not.toContain(http.token);
    expect(opened.text).not.toMatch(/code|[\w-]{43}/u);
    expect((await http.bare(path)).status).toBe(401);

    const cookie = set.split(';')[0] ?? '';
    const page = await http.bare('/', { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
    expect(page.status).toBe(200);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).toContain('&lt;script&gt;');
    expect(page.text).not.toContain('<script');
    const post = {
      method: 'POST',
      body: {},
      headers: { cookie, 'content-type': 'application/json' },
    };
    const from = (origin: string) => ({ ...post, headers: { ...post.headers, origin } });
    expect((await http.bare('/rpc/status', from(http.url))).status).toBe(200);
    expect((await http.bare('/rpc/status', post)).status).toBe(403);
    expect((await http.bare('/rpc/status', from('http://127.0.0.1:3000'))).status).toBe(403);
    const near = { headers: { cookie, 'sec-fetch-site': 'same-site' } };
    expect((await http.bare('/api/dialogs', near)).status).toBe(403);
    expect((await http.bare('/', { headers: { cookie: `${cookie}x` } })).status).toBe(401);
  });

  it('leaves neither token nor code in a command line or in the log', async () => {
    const { project, http } = await served();
    const bin = join(project.folder, 'bin');
    mkdirSync(bin);
    const said = join(project.folder, 'opened');
    writeFileSync(
      join(bin, 'xdg-open'),
      `#!/bin/sh\necho "$@" > '${said}.new'\nmv '${said}.new' '${said}'\n`,
    );
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
    const { code, stdout } = await project.cli(['open'], { env: { PATH: path } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    await until('the browser was called', () => existsSync(said));
    const file = project.path('run/open.html');
    expect(readFileSync(said, 'utf8').trim()).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [, url = ''] = /url=([^"]+)"/u.exec(readFileSync(file, 'utf8')) ?? [];
    expect((await http.bare(url.slice(http.url.length))).status).toBe(200);
    const log = readFileSync(project.path('run/daemon.log'), 'utf8');
    for (const secret of [http.token, url.split('code=')[1] ?? '']) {
      expect(log).not.toContain(secret);
      const lines = readdirSync('/proc').map((pid) => argumentsOf(Number(pid)).join(' '));
      expect(lines.join('\n')).not.toContain(secret);
    }
  });
});
