import { describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { projectsPerTest } from '../support/daemon-project.js';
import type { Changes } from '../support/s0-scenarios.js';
import { sharedWork, Work } from '../support/work.js';

interface Pushed {
  readonly accepted: number;
  readonly dropped: number;
}
interface Rules {
  readonly rules: readonly { readonly id: string; readonly builtin: boolean; enabled: boolean }[];
}
interface Compared {
  readonly status: string;
  readonly regressions: readonly { readonly kind: string; readonly what: string }[];
  readonly improvements: readonly object[];
}

const newProject = projectsPerTest();

const push = (work: Work, batch: object) => work.call<Pushed>('push_telemetry', batch);
const noise = (work: Work, request: object = {}) => work.call<Rules>('configure_noise', request);
const error = (message: string, source?: string) => {
  return { level: 'error', message, ...(source === undefined ? {} : { source }) };
};
const asked = (path: string, status: number, ms = 10) => {
  return { url: `http://localhost:3000${path}`, method: 'GET', status, duration_ms: ms };
};
const repeat = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, number) => make(number));

async function looking(work: Work, client: string) {
  const look = (more: object = {}) => work.call<Changes>('get_changes_since', { client, ...more });
  await look();
  return look;
}

describe('what programs push', () => {
  const shared = sharedWork();

  it('is counted: what one call has too much of is dropped', async () => {
    const work = shared();
    const look = await looking(work, 'dropped');
    const batch = {
      console: repeat(1200, (n) => error(`part ${n}`)),
      network: repeat(150, (n) => asked(`/p/${n}`, 200)),
      websocket: repeat(501, () => ({ event: 'message', url: 'ws://localhost/live' })),
      actions: repeat(60, () => ({ type: 'click' })),
    };
    expect(await push(work, batch)).toEqual({ accepted: 1650, dropped: 261 });
    const found = await look();
    expect(found.console?.total_new).toBe(1200);
    expect(found.network?.total_new).toBe(150);
    expect(found.evicted).toEqual(['console', 'network', 'websocket', 'actions']);
    expect(Buffer.byteLength(JSON.stringify(found))).toBeLessThanOrEqual(8192);
  });

  it.each([
    { console: [{ level: 'fatal', message: 'x' }] },
    { console: [{ level: 'error' }] },
    { network: [{ url: '/', method: 'GET', status: 1000 }] },
    { network: [{ url: '/', method: 'GET', status: 200, body: 'x' }] },
    { websocket: [{ event: 'explode', url: 'ws://x' }] },
    { actions: [{ type: '' }] },
    { console: repeat(10_001, () => error('x')) },
    { nothing: [] },
  ])('is refused when it is not what it should be (%#)', async (batch) => {
    expect((await shared().refusal('push_telemetry', batch)).data['code']).toBe('INVALID_PARAMS');
  });

  it('is cut where it is too long, and told in whole characters', async () => {
    const work = shared();
    const look = await looking(work, 'long');
    await push(work, {
      console: [error('\u{1F468}\u200D\u{1F469}\u200D\u{1F467}'.repeat(50_000))],
    });
    const message = (await look()).console?.errors[0]?.message ?? '';
    expect(message.length).toBeLessThanOrEqual(200);
    expect(message).toMatch(/…$/u);
    expect(message).not.toMatch(/\p{Surrogate}/u);
  });

  it('cannot have happened in the future', async () => {
    const work = shared();
    const { to } = await work.call<Changes>('get_changes_since', { client: 'future' });
    await push(work, { console: [{ ...error('tomorrow'), timestamp: '2999-01-01T00:00:00Z' }] });
    const later = new Date(Date.parse(to) + 3_600_000).toISOString();
    const found = await work.call<Changes>('get_changes_since', { checkpoint: later });
    expect(found.console?.errors).toEqual([]);
  });

  it.each([-1e300, -1])('cannot have happened before clocks count (%p)', async (timestamp) => {
    const work = shared();
    const look = await looking(work, `past ${timestamp}`);
    await push(work, { actions: [{ type: 'click', timestamp }] });
    expect((await look()).actions?.actions.at(-1)?.timestamp).toBe('1970-01-01T00:00:00.000Z');
  });

  it('is from nobody until somebody pushes', async () => {
    const work = await Work.start(newProject());
    expect((await work.call<Changes>('get_changes_since')).telemetry).toBe('none');
    expect(await work.call('get_session_health')).toMatchObject({
      ...{ severity: 'clean', telemetry: 'none', since: null },
    });
    await push(work, { console: [error('hello')] });
    expect(await work.call<Changes>('get_changes_since')).not.toHaveProperty('telemetry');
    expect(await work.call('get_session_health')).toMatchObject({
      ...{ severity: 'error', console_errors: 1, telemetry: 'pushed' },
    });
  });

  it('reaches every reader exactly once, many at a time', async () => {
    const work = shared();
    const connect = async () => new Work(work.project, await work.project.socket());
    const writers = await Promise.all(repeat(8, connect));
    const readers = await Promise.all(repeat(8, connect));
    const look = (reader: Work) =>
      reader.call<Changes>('get_changes_since', { include: ['console', 'actions'] });
    await Promise.all(readers.map(look));
    let isDone = false;
    const reading = readers.map(async (reader) => {
      let seen = 0;
      while (!isDone) seen += (await look(reader)).console?.total_new ?? 0;
      return seen + ((await look(reader)).console?.total_new ?? 0);
    });
    await Promise.all(
      writers.map(async (writer, who) => {
        for (let n = 0; n < 50; n++) await push(writer, { console: [error(`${who} ${n}`)] });
      }),
    );
    isDone = true;
    expect(await Promise.all(reading)).toEqual(repeat(8, () => 400));
  });
});

describe('noise', () => {
  const shared = sharedWork();

  it('is left out by rules that are there from the beginning, and counted', async () => {
    const work = shared();
    const look = await looking(work, 'built-in');
    await push(work, {
      console: [error('[vite] connecting...'), error('Real', 'src/app.ts:1')],
      network: [asked('/favicon.ico', 404), asked('/main.hot-update.json', 404)],
      websocket: [{ event: 'close', url: 'ws://localhost/_next/webpack-hmr', close_code: 1006 }],
    });
    const found = await look();
    expect(found.console).toMatchObject({ total_new: 2, noise: 1, errors: [{ message: 'Real' }] });
    expect(found.network).toMatchObject({ noise: 2, failing_new_endpoints: [] });
    expect(found.websocket?.disconnections).toEqual([]);
    expect(found.summary).toBe('1 new console error(s)');
  });

  it('is what the project says, from now on and for what is there already', async () => {
    const work = shared();
    const { cursor } = await work.call<Changes>('get_changes_since');
    await push(work, { console: [error('[poll] tick failed'), error('Broken')] });
    const told = async () => {
      const found = await work.call<Changes>('get_changes_since', { checkpoint: cursor });
      return (found.console?.errors ?? []).map(({ message }) => message);
    };
    const rule = { id: 'own-poll', category: 'console', pattern: '^\\[poll\\]', reason: 'ours' };
    const { rules } = await noise(work, { add: [rule] });
    expect(rules[0]).toEqual({ ...rule, builtin: false, enabled: true });
    expect(await told()).toEqual(['Broken']);
    await noise(work, { disable: ['own-poll'] });
    expect(await told()).toEqual(['[poll] tick failed', 'Broken']);
    await noise(work, { enable: ['own-poll'] });
    expect(await told()).toEqual(['Broken']);
    await noise(work, { remove: ['own-poll'] });
    expect(await told()).toHaveLength(2);
    await noise(work, { disable: ['builtin-hmr'] });
    await push(work, { console: [error('[vite] connecting...')] });
    expect(await told()).toContain('[vite] connecting...');
    await noise(work, { enable: ['builtin-hmr'] });
  });

  it.each([
    [{ add: [{ id: 'x', category: 'console', pattern: '(?=a)b' }] }],
    [{ add: [{ id: 'x', category: 'console', pattern: '(' }] }],
    [{ add: [{ id: 'X Y', category: 'console', pattern: 'a' }] }],
    [{ remove: ['nobody'] }],
    [{ remove: ['builtin-hmr'] }],
    [{ disable: ['builtin-hrm'] }],
  ])('cannot be %j', async (request) => {
    expect((await shared().refusal('configure_noise', request)).data['code']).toBe(
      'INVALID_PARAMS',
    );
  });

  it('may be a pattern that would take others for ever', async () => {
    const work = shared();
    const look = await looking(work, 'hostile');
    await noise(work, { add: [{ id: 'hostile', category: 'console', pattern: '^(a+)+$' }] });
    await push(work, { console: repeat(500, () => error(`${'a'.repeat(1900)}!`)) });
    expect((await look()).console?.errors).toHaveLength(1);
    await noise(work, { remove: ['hostile'] });
  });

  it('is kept in the settings, and a rule there that cannot be used is said', async () => {
    const project = newProject();
    const work = await Work.start(project);
    await noise(work, { add: [{ id: 'kept', category: 'network', pattern: '/ping' }] });
    await project.cli(['stop']);
    const file = project.path('config.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { noise: { rules: object[] } };
    config.noise.rules.push({ id: 'wrong', category: 'console', pattern: '(?!x)' });
    writeFileSync(file, JSON.stringify(config));
    const again = await Work.start(project);
    const { rules } = await noise(again);
    expect(rules.filter(({ builtin }) => !builtin).map(({ id }) => id)).toEqual(['kept', 'wrong']);
    const { warnings } = await project.status();
    expect(warnings.join('\n')).toContain('noise rule wrong');
    const look = await looking(again, 'kept');
    await push(again, { network: [asked('/ping', 500)] });
    expect((await look()).network).toMatchObject({ failing_new_endpoints: [], noise: 1 });
  });
});

describe('baselines', () => {
  const shared = sharedWork();
  const compare = (work: Work, more: object = {}) =>
    work.call<Compared>('compare_baseline', { name: 'baseline_checkout', ...more });

  it('say what is worse than when they were saved, over a restart too', async () => {
    let work = shared();
    await push(work, {
      console: [error('Known 12345')],
      network: [...repeat(5, () => asked('/api/cart', 200, 50)), asked('/api/old', 500)],
      websocket: [{ event: 'open', url: 'ws://localhost/live' }],
    });
    const saved = await work.call('save_baseline', {
      ...{ name: 'baseline_checkout', description: 'it works' },
    });
    expect(saved).toMatchObject({
      ...{ name: 'baseline_checkout', description: 'it works', endpoints: 2 },
      ...{ console_errors: 1, console_warnings: 0, websockets: 1 },
    });
    expect(await compare(work)).toMatchObject({ status: 'match', regressions: [] });
    await push(work, {
      console: [error('Known 99999'), error('Fresh')],
      network: [...repeat(20, () => asked('/api/cart', 200, 400)), asked('/api/old', 200)],
      websocket: [{ event: 'close', url: 'ws://localhost/live' }],
    });
    const { status, regressions, improvements } = await compare(work);
    expect(status).toBe('regression');
    expect(regressions.map(({ kind, what }) => `${kind} ${what}`)).toEqual([
      'console_error Fresh',
      'websocket ws://localhost/live',
      'latency /api/cart',
    ]);
    expect(improvements).toMatchObject([{ kind: 'status', what: '/api/old' }]);
    const kinds = (await compare(work, { tolerance: 10 })).regressions.map(({ kind }) => kind);
    expect(kinds).not.toContain('latency');
    await work.project.cli(['stop']);
    work = await Work.start(work.project);
    expect(await work.call('list_baselines')).toMatchObject({ baselines: [saved] });
    await push(work, { network: [asked('/api/cart', 503)] });
    expect((await compare(work)).regressions).toMatchObject([
      { kind: 'status', what: '/api/cart' },
      { kind: 'websocket' },
    ]);
    // A mark can stand for it.
    await work.call('mark', { name: 'with_baseline', baseline: 'baseline_checkout' });
    await push(work, {
      console: [error('Known 55555'), error('New')],
      network: [asked('/api/cart', 500)],
    });
    const found = await work.call<Changes>('get_changes_since', { checkpoint: 'with_baseline' });
    expect(found.console?.errors.map(({ message }) => message)).toEqual(['New']);
    expect(found.network?.failures).toEqual([
      { path: '/api/cart', status: 500, previous_status: 200 },
    ]);
    await work.call('delete_baseline', { name: 'baseline_checkout' });
    expect(await work.call('list_baselines')).toEqual({ baselines: [] });
    const refusal = await work.refusal('compare_baseline', { name: 'baseline_checkout' });
    expect(refusal.data['code']).toBe('MARK_NOT_FOUND');
  });

  it('need a name like a mark', async () => {
    const work = await Work.start(newProject());
    const { data } = await work.refusal('save_baseline', { name: 'Check Out' });
    expect(data).toMatchObject({ code: 'NAME_INVALID', suggestion: 'check_out' });
  });
});
