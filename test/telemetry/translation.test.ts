import { describe, expect, it } from '@jest/globals';
import type { Told } from '../../src/core/changes/told.js';
import { Translation } from '../../src/telemetry/browser/translation.js';

const NAMES = { sockets: 'tell_sockets', actions: 'tell_actions' };
const NOW = 1_800_000_000_000;
const TAB = 'TAB1';

type Message = readonly [method: string, params: object];

/** What a browser's messages become, one after the other. */
function translated(...events: readonly Message[]): Told[] {
  const translation = new Translation(NAMES, NOW - 1_000);
  return events.flatMap(([method, params]) => {
    const event = { method, params: params as Record<string, unknown>, session: 'S1' };
    return translation.take(event, { now: NOW, mainFrame: TAB }) ?? [];
  });
}

const entriesOf = (...events: readonly Message[]) =>
  translated(...events).map(({ entry }) => entry);

const text = (value: string) => ({ type: 'string', value });
const called = (type: string, args: readonly object[], more: object = {}) =>
  ['Runtime.consoleAPICalled', { type, args, timestamp: NOW, ...more }] as const;
const messages = (...args: readonly object[]) =>
  entriesOf(called('log', args)).map((entry) => ('message' in entry ? entry.message : ''));

describe('what a page writes into its console', () => {
  it('has a level, the text and the first place that has an address', () => {
    const callFrames = [
      { url: '', lineNumber: 3 },
      { url: 'http://localhost/src/app.ts?t=1#x', lineNumber: 9 },
    ];
    expect(translated(called('error', [text('Broken')], { stackTrace: { callFrames } }))).toEqual([
      {
        stream: 'console',
        entry: {
          level: 'error',
          message: 'Broken',
          source: 'http://localhost/src/app.ts:10',
          at: NOW,
        },
      },
    ]);
  });

  it.each([
    ['error', 'error'],
    ['assert', 'error'],
    ['warning', 'warning'],
    ['info', 'info'],
    ['debug', 'debug'],
    ['log', 'log'],
    ['table', 'log'],
    ['__proto__', 'log'],
  ])('%s is told as %s', (type, level) => {
    expect(entriesOf(called(type, [text('x')]))).toMatchObject([{ level }]);
  });

  it('tells nothing of what only clears or ends something', () => {
    expect(translated(called('clear', []), called('endGroup', [text('x')]))).toEqual([]);
  });

  it('fills places as the console does, and leaves colours out', () => {
    const three = { type: 'number', value: 3, description: '3' };
    expect(
      messages(text('%cred %s of %d at 100%%'), text('color: red'), text('two'), three),
    ).toEqual(['red two of 3 at 100%']);
    expect(messages(text('%s and %s'), text('one'))).toEqual(['one and %s']);
    expect(messages(text('a'), text('%s'), text('b'))).toEqual(['a %s b']);
  });

  it('shows values as the browser describes them, and errors without their stack', () => {
    const error = {
      ...{ type: 'object', subtype: 'error' },
      description: 'TypeError: no\nreally\n    at f (http://localhost/a.js:1:2)',
    };
    const properties = [
      { name: 'a', type: 'number', value: '1' },
      { name: 'b', type: 'string', value: 'x' },
    ];
    const plain = {
      type: 'object',
      description: 'Object',
      preview: { properties, overflow: true },
    };
    const list = {
      ...{ type: 'object', subtype: 'array', description: 'Array(2)' },
      preview: { subtype: 'array', properties },
    };
    expect(messages(error)).toEqual(['TypeError: no\nreally']);
    expect(messages(plain)).toEqual(['{a: 1, b: "x", …}']);
    expect(messages(list)).toEqual(['[1, "x"]']);
    expect(
      messages({ type: 'undefined' }, { type: 'object', subtype: 'null', value: null }),
    ).toEqual(['undefined null']);
    expect(messages({ type: 'bigint', unserializableValue: '10n' })).toEqual(['10n']);
  });

  it('is bounded, whatever a page says', () => {
    const long = 'x'.repeat(1_000_000);
    const [message = ''] = messages(
      text(long),
      text(long),
      ...Array<object>(1_000).fill(text('y')),
    );
    expect(message).toHaveLength(2_000);
  });

  it('is no news when it was said before anybody listened', () => {
    expect(translated(called('error', [text('old')], { timestamp: NOW - 5_000 }))).toEqual([]);
  });

  it('survives messages of another shape', () => {
    for (const params of [
      {},
      { args: 'x' },
      { args: [null, 1, 'x'] },
      { stackTrace: 7, args: [{}] },
    ]) {
      expect(() => translated(['Runtime.consoleAPICalled', params])).not.toThrow();
      expect(() => translated(['Log.entryAdded', params])).not.toThrow();
      expect(() => translated(['Runtime.exceptionThrown', params])).not.toThrow();
      expect(() => translated(['Network.requestWillBeSent', params])).not.toThrow();
    }
  });
});

describe('what the browser says about a page', () => {
  it('is told with its place', () => {
    const entry = {
      ...{ source: 'security', level: 'warning', text: 'Mixed content', timestamp: NOW },
      ...{ url: 'http://localhost/', lineNumber: 0 },
    };
    expect(entriesOf(['Log.entryAdded', { entry }])).toEqual([
      { level: 'warning', message: 'Mixed content', source: 'http://localhost/:1', at: NOW },
    ]);
  });

  it.each(['network', 'worker'])('of source %s is told elsewhere already', (source) => {
    const entry = { source, level: 'error', text: 'x', timestamp: NOW };
    expect(translated(['Log.entryAdded', { entry }])).toEqual([]);
  });
});

describe('an error that nobody caught', () => {
  const thrown = (details: object) =>
    entriesOf(['Runtime.exceptionThrown', { timestamp: NOW, exceptionDetails: details }]);

  it('is told with what was thrown and where', () => {
    const exception = {
      type: 'object',
      subtype: 'error',
      description: 'Error: no\n    at f (a.js:1)',
    };
    const at = { url: 'http://localhost/a.js', lineNumber: 4 };
    expect(thrown({ text: 'Uncaught (in promise)', exception, ...at })).toEqual([
      {
        ...{ level: 'error', message: 'Uncaught (in promise) Error: no' },
        ...{ source: 'http://localhost/a.js:5', at: NOW },
      },
    ]);
  });

  it('need not be an error', () => {
    expect(thrown({ text: 'Uncaught', exception: text('words') })).toMatchObject([
      { message: 'Uncaught words', source: null },
    ]);
  });
});

const begun = (id: string, url: string, more: object = {}) =>
  [
    'Network.requestWillBeSent',
    {
      requestId: id,
      request: { url, method: 'GET' },
      timestamp: 10,
      wallTime: NOW / 1_000,
      ...more,
    },
  ] as const;
const answered = (id: string, status: number, more: object = {}) =>
  [
    'Network.responseReceived',
    { requestId: id, response: { status }, timestamp: 10.02, ...more },
  ] as const;
const finished = (id: string) =>
  ['Network.loadingFinished', { requestId: id, timestamp: 10.05 }] as const;
const failed = (id: string, more: object) =>
  ['Network.loadingFailed', { requestId: id, timestamp: 10.05, ...more }] as const;

describe('a request', () => {
  const url = 'http://localhost/api';

  it('is told when it has ended, with status and duration', () => {
    expect(entriesOf(begun('1', url), answered('1', 500), finished('1'))).toEqual([
      { url, method: 'GET', status: 500, durationMs: 50, at: NOW + 50 },
    ]);
  });

  it('without an answer has status 0', () => {
    const end = failed('1', { errorText: 'net::ERR_CONNECTION_REFUSED', canceled: false });
    expect(entriesOf(begun('1', url), end)).toMatchObject([{ status: 0 }]);
    expect(entriesOf(begun('1', url), answered('1', 200), end)).toMatchObject([{ status: 0 }]);
  });

  it('that was cancelled did not fail', () => {
    const end = failed('1', { errorText: 'net::ERR_ABORTED', canceled: true });
    expect(entriesOf(begun('1', url), end)).toEqual([]);
    expect(entriesOf(begun('1', url), answered('1', 200), end)).toMatchObject([{ status: 200 }]);
  });

  it('that an extension blocked is nobody’s failure', () => {
    const end = failed('1', { errorText: 'net::ERR_BLOCKED_BY_CLIENT', canceled: false });
    expect(translated(begun('1', url), end)).toEqual([]);
  });

  it('that is redirected is told as each of its steps', () => {
    const redirectResponse = { status: 302 };
    const found = entriesOf(
      begun('1', `${url}/old`),
      begun('1', `${url}/new`, { redirectResponse, timestamp: 10.01 }),
      answered('1', 200),
      finished('1'),
    );
    expect(found).toMatchObject([
      { url: `${url}/old`, status: 302 },
      { url: `${url}/new`, status: 200 },
    ]);
  });

  it('that never ends is told when it is answered', () => {
    expect(translated(begun('1', url), answered('1', 200, { type: 'EventSource' }))).toHaveLength(
      1,
    );
  });

  it('that asks nobody, or only whether one may ask, is none', () => {
    const inside = ['data:text/plain,x', 'blob:http://localhost/1'].flatMap((address) => [
      begun('1', address),
      finished('1'),
    ]);
    expect(translated(...inside)).toEqual([]);
    expect(
      translated(begun('1', url, { type: 'Preflight' }), answered('1', 204), finished('1')),
    ).toEqual([]);
  });

  it('read from a file has been answered', () => {
    const found = entriesOf(begun('1', 'file:///a.html'), answered('1', 0), finished('1'));
    expect(found).toMatchObject([{ status: 200 }]);
  });
});

const report = (name: string, payload: unknown) =>
  [
    'Runtime.bindingCalled',
    {
      name,
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
      executionContextId: 3,
    },
  ] as const;

describe('what our scripts report from inside a page', () => {
  const url = 'ws://localhost/live';

  it('is how WebSockets open and close', () => {
    const open = { event: 'open', id: 1, url };
    const close = { event: 'close', id: 1, url, code: 4001, reason: 'enough' };
    expect(translated(report(NAMES.sockets, open), report(NAMES.sockets, close))).toMatchObject([
      { stream: 'websocket', entry: { event: 'open', url, id: 'S1.3.1', closeCode: null } },
      { stream: 'websocket', entry: { event: 'close', closeCode: 4001, closeReason: 'enough' } },
    ]);
  });

  it('is that somebody typed and how much, not what', () => {
    const typing = {
      type: 'typing',
      url: 'http://localhost/',
      target: 'input#name',
      characters: 5,
    };
    const { characters: _, ...secret } = typing;
    const found = entriesOf(report(NAMES.actions, typing), report(NAMES.actions, secret));
    expect(found).toMatchObject([{ value: '5 character(s)' }, { value: null }]);
  });

  it.each([
    ['of another name', 'somebody_else', { event: 'open', id: 1, url }],
    ['that is no JSON', NAMES.sockets, '{'],
    ['that is too long', NAMES.sockets, { event: 'open', id: 1, url: 'x'.repeat(1_000_000) }],
    ['of another shape', NAMES.sockets, { event: 'open', id: 'x', url }],
    ['with more in it', NAMES.sockets, { event: 'open', id: 1, url, extra: 1 }],
    [
      'with a prototype in it',
      NAMES.sockets,
      '{"event":"open","id":1,"url":"x","__proto__":{"a":1}}',
    ],
    ['that is nothing', NAMES.sockets, 'null'],
    ['of a made-up action', NAMES.actions, { type: 'navigation', url, target: 'x' }],
    ['with what was typed', NAMES.actions, { type: 'typing', url, target: 'x', value: 'secret' }],
  ])('is left out: one %s', (_, name, payload) => {
    expect(translated(report(name, payload))).toEqual([]);
  });
});

describe('a WebSocket that fails', () => {
  it('is told with its address and why', () => {
    const url = 'ws://localhost/live';
    const found = translated(
      ['Network.webSocketCreated', { requestId: '7', url }],
      [
        'Network.webSocketFrameError',
        { requestId: '7', errorMessage: 'net::ERR_CONNECTION_REFUSED' },
      ],
    );
    expect(found).toMatchObject([
      {
        stream: 'websocket',
        entry: { event: 'error', url, message: 'net::ERR_CONNECTION_REFUSED' },
      },
    ]);
  });
});

describe('going somewhere', () => {
  const url = 'http://localhost/next';

  it('is an action, also within the page', () => {
    const found = translated(
      ['Page.frameNavigated', { frame: { id: TAB, url } }],
      ['Page.navigatedWithinDocument', { frameId: TAB, url: `${url}#part` }],
    );
    expect(found).toMatchObject([
      { stream: 'actions', entry: { type: 'navigation', url } },
      { stream: 'actions', entry: { type: 'navigation', url: `${url}#part` } },
    ]);
  });

  it('is none for frames inside a page and for an empty tab', () => {
    expect(
      translated(
        ['Page.frameNavigated', { frame: { id: 'ANOTHER', url } }],
        ['Page.frameNavigated', { frame: { id: TAB, url: 'about:blank' } }],
      ),
    ).toEqual([]);
  });
});
