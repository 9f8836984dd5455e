import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { projectsPerTest, type Project } from '../support/daemon-project.js';
import { git, Work, type Saved, type SentMessage } from '../support/work.js';

/** No part of it may be found, however it was cut: every secret below has it near its beginning. */
const MARK = 'c4n4ry';
let secrets = 0;

/** A made-up token, another one each time. */
function token(): string {
  secrets += 1;
  return `ghp_${MARK}${String(secrets).padStart(4, '0')}${'aB3'.repeat(9)}`;
}

interface Warned {
  readonly warnings?: readonly string[];
}

/** Every file of the state, and every object of its stores, that has the text. */
function holding(project: Project, text: string): string[] {
  const files = readdirSync(project.path(), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const found = files.filter((file) => has(file, text));
  const repositories = [
    project.path('store/kept/.git'),
    ...readdirSync(project.path('dialogs'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => project.path('dialogs', entry.name, 'checkpoints/.git')),
  ];
  for (const folder of repositories.filter((one) => existsSync(one))) {
    const all = git(folder, ['cat-file', '--batch-all-objects', '--batch']);
    if (all.includes(text)) found.push(`objects of ${folder}`);
    if (git(folder, ['for-each-ref']).includes(text)) found.push(`branches of ${folder}`);
  }
  return found;
}

/** While a daemon runs, files of it come and go. */
function has(file: string, text: string): boolean {
  try {
    return readFileSync(file).includes(text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function sayEverywhere(work: Work): Promise<void> {
  const { call } = { call: work.call.bind(work) };
  await call('create_dialog', { title: `about ${token()}\nand more` });
  const sent = await call<SentMessage & Warned>('user_message', {
    content: `Deploy it with the token that I gave: ${token()}, or password=${MARK}-hunter2`,
    message_id: 'message-1',
  });
  expect(sent.warnings?.join()).toContain('github-token, password');
  const { commit_id: commit } = await call<Saved>('create_checkpoint', {
    message: `before ${token()}`,
  });
  const started = await call<{ edit_id: string } & Warned>('start_edit', {
    files: ['a'],
    agent: { name: `ann ${token()}`, version: token() },
    tool: `curl -H 'Authorization: Bearer ${MARK}0123456789abcdef'`,
    rationale: `because of ${token()}`,
    run_id: `run-${token()}`,
    request_id: 'request-1',
  });
  expect(started.warnings?.join()).toContain('github-token');
  work.put({ a: 'two\n' });
  const ended = await call<Warned>('finalize_edit', {
    edit_id: started.edit_id,
    rationale: `https://ann:${MARK}@host/x did it`,
    artifacts: [`https://ann:${MARK}@host/trace`, `s3://b/?token=${MARK}-1234567`],
  });
  expect(ended.warnings).toHaveLength(1);
  const open = await call<{ edit_id: string }>('start_edit', {
    ...{ scope: 'project', detached: true, tool: `login --token ${MARK}-12345678` },
  });
  await call('abort_edit', { edit_id: open.edit_id });
  const noted = await call<Warned>('note', {
    text: `-----BEGIN PRIVATE KEY-----\n${`${MARK}/${MARK}+ABCDEFGH01234567`.repeat(2)}\n-----END PRIVATE KEY-----`,
    agent: { name: 'ann' },
    artifacts: [token()],
  });
  expect(noted.warnings?.join()).toContain('private-key');
  await call('note', { text: `in base64: ${Buffer.from(`it is ${token()}`).toString('base64')}` });
  await call('record_eval', {
    name: `eval ${token()}`,
    metrics: { [token()]: 1 },
    report: `{"api_key": "${MARK}-0123456"}`,
  });
  await call('milestone_add', {
    ...{ title: `got ${token()}`, description: token(), tags: [token()] },
  });
  await call('push_telemetry', {
    console: [{ level: 'error', message: `${'x'.repeat(180)} ${token()}` }],
    network: [{ url: `http://localhost/login/${token()}/x`, method: 'GET', status: 200 }],
    websocket: [{ event: 'open', url: `ws://localhost/?token=${MARK}-1234567` }],
    actions: [{ type: 'navigation', url: `http://ann:${MARK}@localhost/` }],
  });
  await call('mark', { name: 'before_it' });
  await call('save_baseline', { name: 'good', description: `with ${token()}` });
  await call('push_telemetry', { console: [{ level: 'error', message: `again ${token()}` }] });
  await call('mark', { name: 'after_it' });
  await call('get_changes_since', { client: token() });
  await call('snapshot_save', {
    ...{ name: 'one', env: { KEY: token() }, tools: { tool: token() }, seeds: { s: token() } },
  });
  await call('bookmark_add', { name: 'here', checkpoint: commit });
  await call('approve', { message: `all of ${token()}` });
}

describe('secrets in what somebody says', () => {
  const project = projectsPerTest();

  it('are nowhere on the disk, whichever way they came', async () => {
    const place = project();
    writeFileSync(join(place.root, 'a'), 'one\n');
    const work = await Work.start(place);
    await sayEverywhere(work);
    const ledger = readFileSync(place.path('ledger/events.jsonl'), 'utf8');
    expect(ledger.match(/\[redacted:/gu)?.length).toBeGreaterThan(25);
    expect(holding(place, MARK)).toEqual([]);
    await place.cli(['stop']);
    expect(holding(place, MARK)).toEqual([]);
    // And whatever is made again from the ledger is made of the same.
    await Work.start(place);
    expect((await place.cli(['verify'])).code).toBe(0);
    await place.cli(['stop']);
    expect(holding(place, MARK)).toEqual([]);
    expect(holding(place, '[redacted:github-token:1]').length).toBeGreaterThan(3);
  });

  it('leave names alone: a name that looks like one is refused, and nothing is left of it', async () => {
    const place = project();
    const work = await Work.start(place);
    await work.fresh({ a: '1\n' });
    const before = await work.log();
    for (const [method, params] of [
      ['bookmark_add', { name: token() }],
      ['snapshot_save', { name: token() }],
      ['user_message', { content: 'x', message_id: token() }],
      ['start_edit', { files: ['a'], request_id: token() }],
      ['rewind', { target: before[0]?.commit_id, branch: token() }],
    ] as const) {
      expect((await work.refusal(method, params)).data['code']).toBe('NAME_INVALID');
    }
    expect(await work.log()).toEqual(before);
    expect(await work.call('list_edits')).toEqual({ edits: [] });
    const edit = await work.call<{ edit_id: string }>('start_edit', { files: ['a'] });
    await work.call('finalize_edit', { edit_id: edit.edit_id });
    await place.cli(['stop']);
    expect(holding(place, MARK)).toEqual([]);
  });

  it('change nothing about how a message is titled and repeated', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: '1\n' });
    const message = { content: `Use ${token()} to deploy`, message_id: 'm-1' };
    const first = await work.call<SentMessage>('user_message', message);
    const again = await work.call<SentMessage>('user_message', message);
    expect(again).toMatchObject({ checkpoint: first.checkpoint, message_index: 0 });
    const [saved] = await work.log();
    expect(saved?.message).toBe('Before user message: Use [redacted:github-token:1] to deploy');
    const plain = 'A message of more than fifty characters, and no secret is in it.';
    await work.call('user_message', { content: plain });
    expect((await work.log())[0]?.message).toBe(`Before user message: ${plain.slice(0, 50)}...`);
  });

  it('are told beside the answer on the command line, and no half of a stand-in is a title', async () => {
    const place = project();
    await place.cli(['start']);
    const said = `Deploy it to the server with password=${token()} today`;
    const { code, stdout, stderr } = await place.cli(['message', said]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^The project .* is saved in /u)]);
    expect(stderr).toBe('! What looked like a secret was not written down: github-token.\n');
    const { checkpoints } = await place.json<{ checkpoints: { message: string }[] }>(['log']);
    expect(checkpoints[0]?.message).toBe(
      'Before user message: Deploy it to the server with password=...',
    );
    const { kept } = await place.json<{ kept: { bookmarks: number } }>(['gc', '--dry-run']);
    expect(kept.bookmarks).toBe(0);
  });

  it('stay in files, which come back to the byte', async () => {
    const work = await Work.start(project());
    const content = `password=${MARK}-hunter2\n${token()}\n`;
    await work.fresh({ 'settings.txt': content });
    const { commit_id: commit } = await work.save(`with ${token()}`);
    work.put({ 'settings.txt': 'gone\n' });
    await work.restore(commit);
    expect(work.read('settings.txt')).toBe(content);
  });

  it('reach those who listen as they are kept', async () => {
    const work = await Work.start(project());
    await work.fresh({ a: '1\n' });
    await work.call('subscribe', { types: ['user'] });
    const heard = work.socket.event('user');
    await work.call('user_message', { content: `take ${token()}` });
    expect(JSON.stringify(await heard)).toContain('take [redacted:github-token:1]');
  });
});

describe('the policy', () => {
  const project = projectsPerTest();

  it('can be switched off, and then says so', async () => {
    const place = project();
    const work = await Work.start(place);
    await work.fresh({ a: '1\n' });
    await place.cli(['config', 'set', 'redact.enabled', 'false']);
    expect((await place.status()).warnings.join()).toContain('redact.enabled is off');
    const kept = token();
    const answer = await work.call<Warned>('note', { text: `as it is: ${kept}` });
    expect(answer.warnings).toBeUndefined();
    await work.call('bookmark_add', { name: kept });
    expect(holding(place, kept)).toContain(place.path('ledger/events.jsonl'));
    expect(holding(place, kept)).not.toContain(place.path('run/daemon.log'));
    await place.cli(['config', 'set', 'redact.enabled', 'true']);
    expect((await place.status()).warnings.join()).not.toContain('redact.enabled');
    await work.call('bookmark_remove', { name: kept });
  });

  it('takes patterns of the project, and tells of those that cannot be used', async () => {
    const place = project();
    const work = await Work.start(place);
    await work.fresh({ a: '1\n' });
    const redact = { personal: ['email'], patterns: ['ACME-[0-9]{4}', '(?=no)', '(a+)+$'] };
    await work.call('update_config', { redact });
    expect((await place.status()).warnings.join()).toContain('redact.patterns cannot be used');
    await work.call('user_message', {
      content: `ACME-1234 for ann@example.org ${'a'.repeat(100_000)}!`,
    });
    const [saved] = await work.log();
    expect(saved?.message).toMatch(
      /^Before user message: \[redacted:own:1\] for \[redacted:email:2\]/u,
    );
    expect(holding(place, 'ACME-1234')).toEqual([]);
    expect(holding(place, 'ann@example.org')).toEqual([]);
  });
});
