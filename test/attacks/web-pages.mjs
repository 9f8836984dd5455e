/* global document, navigator, fetch, setTimeout, Blob, EventSource, WebSocket, URLSearchParams */
/** A page in a real browser, of a stranger or of a neighbouring port, that wants something of the daemon. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import connectTo from 'chrome-remote-interface';

const BROWSER = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));
const needsBrowser = () => (BROWSER === undefined ? 'there is no Chromium' : undefined);
const DEADLINE_MS = 60_000;

/** Runs in the page. Every way a page has to reach a server; gives what it could read. */
const REACH = async (urls) => {
  const readable = [];
  const soon = (promise) =>
    Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 1500))]);
  const json = JSON.stringify({ title: 'made by a page' });
  for (const url of urls) {
    const asks = [
      ['/healthz', {}],
      ['/api/dialogs', { credentials: 'include' }],
      ['/api/dialogs', { mode: 'no-cors', credentials: 'include' }],
      ['/api/dialogs', { method: 'POST', body: json, credentials: 'include' }],
      [
        '/rpc/create_dialog',
        { method: 'POST', body: json, mode: 'no-cors', credentials: 'include' },
      ],
      [
        '/rpc/create_dialog',
        {
          method: 'POST',
          body: new URLSearchParams({ title: 'made by a page' }),
          mode: 'no-cors',
          credentials: 'include',
        },
      ],
      [
        '/rpc/create_dialog',
        {
          method: 'POST',
          body: json,
          headers: { 'content-type': 'application/json' },
          credentials: 'include',
        },
      ],
      [
        '/rpc/create_dialog',
        {
          method: 'POST',
          body: json,
          headers: { 'content-type': 'application/json', authorization: 'Bearer guess' },
        },
      ],
      ['/rpc/shutdown', { method: 'POST', body: '{}', mode: 'no-cors', credentials: 'include' }],
      [
        '/mcp',
        {
          method: 'POST',
          body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
          mode: 'no-cors',
          credentials: 'include',
        },
      ],
      ['/api/events', { credentials: 'include' }],
    ];
    for (const [path, options] of asks) {
      const answer = await soon(fetch(url + path, options).catch(() => undefined));
      if (answer === undefined || answer.type === 'opaque') continue;
      const text = await soon(answer.text().catch(() => ''));
      readable.push(`${answer.status} ${path} ${answer.ok ? text : ''}`);
    }
    navigator.sendBeacon(`${url}/rpc/create_dialog`, json);
    navigator.sendBeacon(`${url}/rpc/create_dialog`, new Blob([json], { type: 'text/plain' }));
    await soon(
      new Promise((resolve) => {
        const stream = new EventSource(`${url}/api/events`, { withCredentials: true });
        stream.onmessage = (event) => resolve(readable.push(`200 event ${event.data}`));
        stream.addEventListener('subscribed', () => resolve(readable.push('200 subscribed')));
        stream.onerror = () => resolve(stream.close());
      }),
    );
    await soon(
      new Promise((resolve) => {
        const socket = new WebSocket(url.replace('http', 'ws') + '/api/events');
        socket.onopen = () => resolve(readable.push('200 websocket'));
        socket.onerror = resolve;
      }),
    );
    for (const tag of ['iframe', 'script', 'img']) {
      await soon(
        new Promise((resolve) => {
          const element = document.createElement(tag);
          element.onload = () => {
            let inside = tag === 'iframe' ? undefined : 'loaded';
            try {
              inside ??= element.contentDocument?.body?.innerText;
            } catch {
              // Not ours to look into.
            }
            if (inside) readable.push(`200 ${tag} ${inside}`);
            resolve();
          };
          element.onerror = resolve;
          element.src = `${url}/api/dialogs`;
          document.body.append(element);
        }),
      );
    }
    const form = document.createElement('form');
    form.method = 'post';
    form.enctype = 'text/plain';
    form.action = `${url}/rpc/create_dialog`;
    form.target = 'sink';
    const sink = document.createElement('iframe');
    sink.name = 'sink';
    const field = document.createElement('input');
    field.name = '{"title":"made by a page","x":"';
    field.value = '"}';
    form.append(field);
    document.body.append(sink, form);
    form.submit();
    await soon(new Promise((resolve) => (sink.onload = resolve)));
  }
  return readable;
};

/** A browser whose every name leads to this machine, as a rebound one would. */
async function openBrowser(stage) {
  const profile = join(stage.base, 'profile');
  mkdirSync(profile);
  const child = spawn(
    BROWSER,
    [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      '--host-resolver-rules=MAP *.example 127.0.0.1',
      'about:blank',
    ],
    // A group of its own: what the program starts must end with it.
    { detached: true, stdio: 'ignore', env: { PATH: process.env.PATH, HOME: profile } },
  );
  const ended = once(child, 'exit');
  stage.after(async () => {
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  });
  const portFile = join(profile, 'DevToolsActivePort');
  const end = Date.now() + DEADLINE_MS;
  while (!existsSync(portFile) || !readFileSync(portFile, 'utf8').includes('\n')) {
    if (Date.now() > end) throw new Error('the browser did not start');
    await pause(20);
  }
  const port = Number(readFileSync(portFile, 'utf8').split('\n')[0]);
  const tab = await connectTo({ port });
  stage.after(() => tab.close());
  await Promise.all([tab.Page.enable(), tab.Runtime.enable()]);
  return {
    async visit(url) {
      const loaded = tab.Page.loadEventFired();
      await tab.Page.navigate({ url });
      await loaded;
    },
    async evaluate(expression) {
      const { result, exceptionDetails } = await tab.Runtime.evaluate({
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
      return result.value;
    },
  };
}

/** The attacker's own site. */
async function servePage(stage) {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end('<!doctype html><body>evil');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stage.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return server.address().port;
}

/** The address that works once leads on to another page by itself. */
async function letIn(browser, url) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    await browser.visit(`${url}/api/dialogs`);
    const text = await browser.evaluate('document.body.innerText').catch(() => '');
    if (text.includes('"dialogs"')) return;
    assert.ok(Date.now() < end, `the browser of the user was not let in: ${text}`);
    await pause(50);
  }
}

/** Lets a page at `from` try everything on `targets`; nothing may be read, nothing may have happened. */
async function letPageTry(stage, { from, visitor = false }) {
  await stage.start();
  const { url } = stage.info().http;
  const port = Number(new URL(url).port);
  const browser = await openBrowser(stage);
  if (visitor) {
    // The user looks at the viewer in this very browser.
    const { url: door } = await stage.client.must('viewer_url');
    await browser.visit(door);
    await letIn(browser, url);
  }
  const own = await servePage(stage);
  await browser.visit(from({ own, port }));
  const targets = [url, `http://localhost:${port}`, `http://evil.example:${port}`];
  const readable = await browser.evaluate(`(${REACH})(${JSON.stringify(targets)})`);
  assert.deepEqual(
    readable.filter((text) => text.startsWith('200')),
    [],
  );
  const { dialogs } = await stage.client.must('list_dialogs');
  assert.deepEqual(dialogs, [], 'a page did something');
  return readable;
}

export const CASES = [
  {
    id: 'T30',
    what: 'a real browser at a name that was rebound to this machine, with the port of the daemon',
    slow: true,
    needs: needsBrowser,
    run: (stage) => letPageTry(stage, { from: ({ port }) => `http://evil.example:${port}/` }),
  },
  {
    id: 'T31',
    what: 'a real page of a stranger: forms, beacons, fetch of every mode and type',
    needs: needsBrowser,
    run: (stage) => letPageTry(stage, { from: ({ own }) => `http://evil.example:${own}/` }),
  },
  {
    id: 'T32',
    what: 'a real page on a neighbouring port while the user is let in with the same browser: events, frames, scripts, cookies',
    slow: true,
    needs: needsBrowser,
    run: (stage) =>
      letPageTry(stage, { from: ({ own }) => `http://127.0.0.1:${own}/`, visitor: true }),
  },
  {
    id: 'T33',
    what: 'a scan of all local ports and addresses for a server that answers without the token',
    async run(stage) {
      await stage.start();
      const { pid, http } = stage.info();
      const port = Number(new URL(http.url).port);
      for (const path of ['/', '/healthz', '/metrics', '/api/dialogs', '/api/events', '/mcp']) {
        const { status } = await fetch(`${http.url}${path}`);
        assert.equal(status, 401, path);
      }
      const inodes = ['tcp', 'tcp6'].flatMap((table) => {
        const file = `/proc/${pid}/net/${table}`;
        if (!existsSync(file)) return [];
        return readFileSync(file, 'utf8')
          .split('\n')
          .map((line) => line.trim().split(/\s+/u))
          .filter(
            (words) =>
              words[3] === '0A' && Number.parseInt(words[1].split(':').at(-1), 16) === port,
          );
      });
      assert.deepEqual(
        inodes.map((words) => words[1].split(':')[0]),
        ['0100007F'],
      );
    },
    needs: () => (existsSync('/proc/net/tcp') ? undefined : 'needs /proc'),
  },
  {
    id: 'T34',
    what: 'the token in addresses: of the viewer, of a redirect, in history, log and referrer',
    async run(stage) {
      const client = await stage.start();
      const token = stage.token();
      const { url } = await client.must('viewer_url');
      assert.ok(!url.includes(token));
      const first = await fetch(url, { redirect: 'manual' });
      const cookie = first.headers.get('set-cookie') ?? '';
      assert.match(cookie, /HttpOnly/iu);
      assert.match(cookie, /SameSite=Strict/iu);
      assert.equal(first.headers.get('referrer-policy'), 'no-referrer');
      for (const [name, value] of first.headers) assert.ok(!value.includes(token), name);
      const again = await fetch(url, { redirect: 'manual' });
      assert.equal(again.status, 401, 'the address works twice');
      const withToken = await fetch(`${stage.info().http.url}/healthz?token=${token}`);
      assert.equal(withToken.status, 401);
      assert.ok(!readFileSync(stage.state('run/daemon.log'), 'utf8').includes(token));
    },
  },
];
