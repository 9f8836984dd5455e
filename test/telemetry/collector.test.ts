import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Told } from '../../src/core/changes/told.js';
import { collect, type Collector, type Page } from '../../src/telemetry/browser/collector.js';
import {
  describeWithBrowser,
  startChromium,
  WITHOUT_BROWSER,
  type Chromium,
  type Tab,
} from '../support/chromium.js';
import { until } from '../support/until.js';
import { startWebApp, type WebApp } from '../support/web-app.js';

const PAGES = {
  '/worker': `<link rel="icon" href="data:,"><script>new Worker('/worker.js')</script>`,
  '/worker.js': `console.warn('from a worker');
const socket = new WebSocket('ws://' + location.host + '/from-worker');
socket.onopen = () => socket.close(4002, 'done');`,
  '/inside': `<link rel="icon" href="data:,"><script>console.error('from inside')</script>`,
  '/elsewhere': '<link rel="icon" href="data:,">',
};

describeWithBrowser(`somebody who listens to a browser${WITHOUT_BROWSER}`, () => {
  let app: WebApp;
  let browser: Chromium;
  let tab: Tab;
  let collector: Collector;
  let told: Told[] = [];
  let pages: readonly Page[] = [];

  beforeAll(async () => {
    app = await startWebApp(PAGES);
    browser = await startChromium();
    collector = await collect({
      ...{ port: browser.port, since: Date.now() },
      tell: (one) => told.push(one),
      pagesChanged: (all) => (pages = all),
    });
    tab = await browser.page();
  });
  afterAll(async () => {
    await collector.close();
    await browser.end();
    await app.stop();
  });
  beforeEach(async () => {
    await tab.goTo(app.url);
    await until('the page has been told of', () =>
      entries('network').some(({ url }) => url.endsWith('/app.js')),
    );
    told = [];
  });

  const entries = <Name extends Told['stream']>(stream: Name) =>
    told.flatMap((one) =>
      one.stream === stream ? [one.entry as Extract<Told, { stream: Name }>['entry']] : [],
    );
  const hears = <Name extends Told['stream']>(stream: Name, count: number) =>
    until(`${count} of ${stream} are told`, () => {
      const found = entries(stream);
      return found.length >= count && found;
    });

  it('tells how a WebSocket ended, whoever ended it', async () => {
    await tab.run('connect().then(() => 1)');
    app.sockets.at(-1)?.close(4001, 'going away');
    await hears('websocket', 2);
    await tab.run('connect().then(() => { live.close(3000, "enough"); })');
    await hears('websocket', 4);
    await tab.run('connect().then(() => 1)');
    app.sockets.at(-1)?.drop();
    const url = `${app.url.replace('http', 'ws')}/live`;
    const closed = (await hears('websocket', 6)).filter(({ event }) => event === 'close');
    expect(closed).toMatchObject([
      { url, closeCode: 4001, closeReason: 'going away' },
      { url, closeCode: 1000, closeReason: '' },
      { url, closeCode: 1006, closeReason: '' },
    ]);
  });

  it('tells why a WebSocket did not open, and of no end of it', async () => {
    await tab.run(`new Promise((resolve) => {
      new WebSocket('ws://127.0.0.1:9/nobody').onclose = resolve;
    }).then(() => say('log', 'over'))`);
    await hears('console', 1);
    expect(entries('websocket')).toMatchObject([
      { event: 'error', url: 'ws://127.0.0.1:9/nobody', message: expect.stringContaining('net::') },
    ]);
  });

  it('leaves WebSockets to pages as they are', async () => {
    const found = await tab.run<Record<string, unknown>>(`(async () => {
      class Own extends WebSocket { mine() { return 'mine'; } }
      const socket = new Own('ws://' + location.host + '/live');
      const order = [];
      socket.addEventListener('open', () => order.push('first'));
      socket.onopen = () => order.push('second');
      await new Promise((resolve) => socket.addEventListener('open', resolve));
      const plain = new WebSocket('ws://' + location.host + '/live', ['chat']);
      let refused;
      try { new WebSocket('http://[') } catch (error) { refused = error.name; }
      let uncalled;
      try { WebSocket('ws://localhost') } catch (error) { uncalled = error.name; }
      return {
        order, refused, uncalled,
        mine: socket.mine(),
        isOwn: socket instanceof Own && socket instanceof WebSocket,
        isPlain: plain instanceof WebSocket && plain.constructor === WebSocket,
        tag: String(plain),
        constants: [WebSocket.CONNECTING, WebSocket.OPEN, WebSocket.CLOSING, WebSocket.CLOSED],
        named: [WebSocket.name, WebSocket.length],
        added: Object.getOwnPropertyNames(globalThis).filter((name) => /smithyd/i.test(name)),
        isEnumerable: Object.keys(globalThis).includes('WebSocket'),
        isNative: Function.prototype.toString.call(WebSocket).includes('[native code]'),
      };
    })()`);
    expect(found).toEqual({
      order: ['first', 'second'],
      ...{
        refused: 'SyntaxError',
        uncalled: 'TypeError',
        mine: 'mine',
        isOwn: true,
        isPlain: true,
      },
      ...{ tag: '[object WebSocket]', constants: [0, 1, 2, 3], named: ['WebSocket', 1], added: [] },
      ...{ isEnumerable: false, isNative: true },
    });
  });

  it('tells of clicks and typing, and never of what was typed', async () => {
    await tab.click(20, 20);
    await tab.click(20, 70);
    await tab.type('visible');
    await tab.click(20, 120);
    await tab.type('pass-word');
    await tab.click(20, 170);
    await tab.type('4111');
    await tab.run(`document.querySelector('#secret').type = 'text'`);
    await tab.click(20, 120);
    await tab.type('shown');
    await tab.click(20, 20);
    const found = await hears('actions', 10);
    expect(found.map(({ type, target, value }) => [type, target, value])).toEqual([
      ['click', 'button#go', null],
      ['click', 'input#name', null],
      ['typing', 'input#name', '7 character(s)'],
      ['click', 'input#secret', null],
      ['typing', 'input#secret', null],
      ['click', 'input#card', null],
      ['typing', 'input#card', null],
      ['click', 'input#secret', null],
      ['typing', 'input#secret', null],
      ['click', 'button#go', null],
    ]);
    expect(JSON.stringify(told)).not.toMatch(/visible|pass-word|4111|shown/u);
  });

  it('takes what a page does to itself for no action of anybody', async () => {
    await tab.run(`document.querySelector('#go').click();
      document.querySelector('#name').dispatchEvent(new InputEvent('input', { data: 'x' }));
      say('log', 'over')`);
    await hears('console', 1);
    expect(entries('actions')).toEqual([]);
  });

  it('tells of requests that fail, and not of those that a page left behind', async () => {
    await tab.run(`fetch('/never').catch(() => 0); fetch('http://127.0.0.1:9/').catch(() => 0); 1`);
    await hears('network', 1);
    await tab.goTo(`${app.url}/elsewhere`);
    const found = await until('the next page is told of', () => {
      const all = entries('network');
      return all.some(({ url }) => url.endsWith('/elsewhere')) && all;
    });
    expect(found.map(({ url, status }) => [url, status])).toEqual([
      ['http://127.0.0.1:9/', 0],
      [`${app.url}/elsewhere`, 200],
    ]);
    expect(entries('actions')).toMatchObject([{ type: 'navigation', url: `${app.url}/elsewhere` }]);
  });

  it('hears workers from their first line, with their WebSockets, each thing once', async () => {
    await tab.goTo(`${app.url}/worker`);
    await hears('websocket', 2);
    await hears('network', 2);
    expect(entries('websocket')).toMatchObject([
      { event: 'open', url: expect.stringContaining('/from-worker') },
      { event: 'close', closeCode: 1000 },
    ]);
    const source = `${app.url}/worker.js:1`;
    expect(entries('console')).toMatchObject([{ message: 'from a worker', source }]);
    expect(entries('network').map(({ url }) => url)).toEqual([
      `${app.url}/worker`,
      `${app.url}/worker.js`,
    ]);
  });

  it('hears frames of other origins', async () => {
    const elsewhere = `http://localhost:${app.port}/inside`;
    await tab.run(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${elsewhere}' })); 1`,
    );
    await hears('console', 1);
    expect(entries('console')).toMatchObject([
      { message: 'from inside', source: `${elsewhere}:1` },
    ]);
    expect(entries('actions')).toEqual([]);
  });

  it('knows the tabs by their addresses and titles', async () => {
    await until('it is known', () => pages[0]?.title === 'A small shop');
    expect(pages).toMatchObject([{ id: tab.id, url: `${app.url}/` }]);
  });

  it('believes nothing that a page says in our name', async () => {
    await tab.run(`(() => {
      const frame = document.body.appendChild(document.createElement('iframe'));
      const names = [globalThis, frame.contentWindow].flatMap((one) => Object.getOwnPropertyNames(one));
      for (const name of names.filter((one) => one.startsWith('smithyd'))) {
        for (const place of [globalThis, frame.contentWindow]) {
          place[name]?.('{"type":"click","url":"x","target":"made up"}');
          place[name]?.('x'.repeat(1e6));
          place[name]?.('{"event":"open","id":{},"url":"x"}');
        }
      }
      JSON.stringify = () => 'nonsense';
      EventTarget.prototype.addEventListener = () => { throw new Error('no'); };
      say('log', 'over');
    })()`);
    await tab.run('connect().then(() => 1)');
    const [opened] = await hears('websocket', 1);
    expect(opened).toMatchObject({ event: 'open' });
    expect(entries('actions')).toEqual([]);
    expect(entries('console')).toMatchObject([{ message: 'over' }]);
  });

  it('joins a page that was there before, and tells nothing of what it said before', async () => {
    await tab.run(`say('error', 'long ago')`);
    await hears('console', 1);
    const late: Told[] = [];
    const since = Date.now() + 1;
    const second = await collect({
      ...{ port: browser.port, since },
      tell: (one) => late.push(one),
      pagesChanged: () => undefined,
    });
    try {
      await until('the clock has moved on', () => Date.now() > since);
      await tab.run(`say('error', 'now')`);
      await tab.run('connect().then(() => 1)');
      await until('both are told', () => late.length >= 2);
      expect(late).toMatchObject([
        { stream: 'console', entry: { message: 'now' } },
        { stream: 'websocket', entry: { event: 'open' } },
      ]);
    } finally {
      await second.close();
    }
  });
});
