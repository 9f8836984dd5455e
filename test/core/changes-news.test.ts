import { describe, expect, it } from '@jest/globals';
import { consoleNews, type JudgedEntry } from '../../src/core/changes/console-news.js';
import { Endpoints } from '../../src/core/changes/endpoints.js';
import { above, severityOf, summaryOf, type News } from '../../src/core/changes/news.js';
import { networkNews } from '../../src/core/changes/network-news.js';
import type { NetworkEntry, WebsocketEntry } from '../../src/core/changes/streams.js';
import { websocketNews } from '../../src/core/changes/websocket-news.js';
import { fingerprint } from '../../src/core/changes/wording.js';

type Asked = readonly [path: string, status: number, durationMs?: number];

const request = ([url, status, durationMs]: Asked): NetworkEntry => {
  return { url, status, method: 'GET', durationMs: durationMs ?? null, at: 0 };
};

/** What is new when some requests came before a look and some after it. */
function network(before: readonly Asked[], after: readonly Asked[]) {
  const endpoints = new Endpoints();
  [...before, ...after].forEach((asked, number) => endpoints.record(request(asked), number));
  const window = { entries: after.map(request), evicted: 0 };
  return networkNews({ window, before: (path) => endpoints.before(path, before.length) });
}

describe('news of the network', () => {
  it('is a failure when an endpoint that did well fails', () => {
    const { failures, failingNew } = network([['/a', 200]], [['/a', 500]]);
    expect(failures).toEqual([{ path: '/a', status: 500, previous: 200 }]);
    expect(failingNew).toEqual([]);
  });

  it('is a failure when it did well and failed after the look', () => {
    const { failures, fresh } = network(
      [],
      [
        ['/a', 200],
        ['/a', 503],
      ],
    );
    expect(failures).toEqual([{ path: '/a', status: 503, previous: 200 }]);
    expect(fresh).toEqual(['/a']);
  });

  it('is no failure when it failed before', () => {
    expect(network([['/a', 404]], [['/a', 500]])).toMatchObject({ failures: [], failingNew: [] });
  });

  it('is no failure when it does well again', () => {
    expect(
      network(
        [['/a', 200]],
        [
          ['/a', 500],
          ['/a', 200],
        ],
      ).failures,
    ).toEqual([]);
  });

  it('is a failing new endpoint when it was never asked before', () => {
    const { failures, failingNew, fresh } = network(
      [],
      [
        ['/a?x', 500],
        ['/b', 0],
      ],
    );
    expect(failures).toEqual([]);
    expect(failingNew).toEqual([
      { path: '/a', status: 500 },
      { path: '/b', status: 0 },
    ]);
    expect(fresh).toEqual(['/a', '/b']);
  });

  it('takes a redirect for an answer', () => {
    expect(network([['/a', 200]], [['/a', 302]]).failures).toEqual([]);
  });

  it('is degraded when it takes more than three times as long', () => {
    const before: Asked[] = [
      ['/a', 200, 100],
      ['/a', 200, 110],
      ['/a', 200, 90],
    ];
    expect(network(before, [['/a', 200, 300]]).degraded).toEqual([]);
    expect(network(before, [['/a', 200, 301]]).degraded).toEqual([
      { path: '/a', durationMs: 301, baselineMs: 100 },
    ]);
  });

  it('measures neither failures nor what never took a time', () => {
    expect(network([['/a', 200, 10]], [['/a', 500, 900]]).degraded).toEqual([]);
    expect(network([['/a', 200]], [['/a', 200, 900]]).degraded).toEqual([]);
  });

  it('remembers how an endpoint did for longer than its requests, and says so when it does not', () => {
    const endpoints = new Endpoints();
    endpoints.record(request(['/a', 200]), 0);
    for (let number = 1; number < 100; number++) {
      endpoints.record(request(['/a', number % 2 === 0 ? 200 : 500]), number);
    }
    expect(endpoints.before('/a', 99).status).toBe(200);
    expect(endpoints.before('/a', 5).status).toBeNull();
    expect(endpoints.before('/never', 99).status).toBeUndefined();
  });

  it('forgets endpoints that were asked longest ago when there are too many', () => {
    const endpoints = new Endpoints();
    for (let number = 0; number < 5000; number++) {
      endpoints.record(request([`/${number}`, 200]), number);
    }
    expect(Object.keys(endpoints.snapshot(10_000))).toHaveLength(1000);
    expect(endpoints.before('/4999', 5000).status).toBe(200);
    expect(endpoints.before('/0', 5000).status).toBeUndefined();
  });
});

const said = (level: JudgedEntry['level'], message: string, noise?: string): JudgedEntry => {
  return { level, message, source: 'a.js:1', at: 0, fingerprint: fingerprint(message), noise };
};

describe('news of the console', () => {
  it('tells each error and warning once, as it first came', () => {
    const entries = [
      said('error', 'Order 10001 failed'),
      said('log', 'fine'),
      said('error', 'Order 10002 failed'),
      said('warning', 'Order 10003 failed'),
      said('error', 'noise', 'a-rule'),
    ];
    expect(consoleNews({ window: { entries, evicted: 7 } })).toEqual({
      total: 12,
      errors: [{ message: 'Order 10001 failed', source: 'a.js:1', count: 2 }],
      warnings: [{ message: 'Order 10003 failed', source: 'a.js:1', count: 1 }],
      noise: 1,
    });
  });

  it('leaves out what is expected', () => {
    const window = { entries: [said('error', 'old 12345'), said('error', 'new')], evicted: 0 };
    const { errors } = consoleNews({ window, expected: new Set(['old {n}']) });
    expect(errors.map(({ message }) => message)).toEqual(['new']);
  });
});

const socket = (event: WebsocketEntry['event'], more: Partial<WebsocketEntry> = {}) => ({
  ...{ event, url: 'ws://a/live', id: null, closeCode: null, closeReason: null },
  ...{ message: null, at: 0, ...more },
});

describe('news of WebSockets', () => {
  it('counts the same disconnection and the same error once', () => {
    const entries = [
      socket('open'),
      socket('close', { closeCode: 1006 }),
      socket('open'),
      socket('close', { closeCode: 1006 }),
      socket('error', { message: 'refused' }),
      socket('error', { message: 'refused' }),
      socket('message', { message: 'hello' }),
    ];
    expect(websocketNews({ entries, evicted: 0 })).toEqual({
      total: 7,
      disconnections: [{ url: 'ws://a/live', closeCode: 1006, closeReason: null, count: 2 }],
      connections: ['ws://a/live'],
      errors: [{ url: 'ws://a/live', message: 'refused', count: 2 }],
      noise: 0,
    });
  });
});

const error = { message: 'broken', source: null, count: 3 };
const empty: Required<Omit<News, 'files'>> = {
  console: { total: 0, errors: [], warnings: [], noise: 0 },
  network: { total: 0, failures: [], failingNew: [], fresh: [], degraded: [], noise: 0 },
  websocket: { total: 0, disconnections: [], connections: [], errors: [], noise: 0 },
  actions: { total: 0, actions: [] },
};
const closed = { url: 'ws://a', closeCode: 1006, closeReason: null, count: 4 };

interface Verdict {
  readonly severity: string;
  readonly summary: string;
}

describe('the verdict', () => {
  it.each<[string, News, Verdict]>([
    ['nothing', empty, { severity: 'clean', summary: 'No significant changes.' }],
    ['no category', {}, { severity: 'clean', summary: 'No significant changes.' }],
    [
      'errors and failures',
      {
        console: { ...empty.console, errors: [error, error], warnings: [error] },
        network: { ...empty.network, failures: [{ path: '/a', status: 500, previous: 200 }] },
      },
      {
        severity: 'error',
        summary: '2 new console error(s), 1 network failure(s), 1 new console warning(s)',
      },
    ],
    [
      'a failing new endpoint',
      { network: { ...empty.network, failingNew: [{ path: '/a', status: 500 }] } },
      { severity: 'error', summary: '1 failing new endpoint(s)' },
    ],
    [
      'a warning',
      { console: { ...empty.console, warnings: [error] } },
      { severity: 'warning', summary: '1 new console warning(s)' },
    ],
    [
      'a disconnection',
      { websocket: { ...empty.websocket, disconnections: [closed] } },
      { severity: 'warning', summary: '1 WebSocket disconnection(s)' },
    ],
    [
      'something slower',
      { network: { ...empty.network, degraded: [{ path: '/', durationMs: 9, baselineMs: 1 }] } },
      { severity: 'clean', summary: '1 degraded endpoint(s)' },
    ],
  ])('of %s', (_, news, { severity, summary }) => {
    expect(severityOf(news)).toBe(severity);
    expect(summaryOf(news)).toBe(summary);
  });

  it('is about what is asked for', () => {
    const news: News = {
      ...empty,
      console: { ...empty.console, errors: [error], warnings: [error] },
      websocket: { ...empty.websocket, disconnections: [closed], connections: ['ws://a'] },
      network: { ...empty.network, fresh: ['/new'] },
    };
    const warnings = above('warnings', news);
    expect(warnings.network?.fresh).toEqual([]);
    expect(warnings.websocket).toMatchObject({ connections: [], disconnections: [closed] });
    expect(warnings.console?.warnings).toEqual([error]);
    const errors = above('errors_only', news);
    expect(errors.console).toMatchObject({ errors: [error], warnings: [] });
    expect(summaryOf(errors)).toBe('1 new console error(s)');
    expect(above('all', news)).toBe(news);
  });
});
