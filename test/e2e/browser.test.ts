import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { browserStage } from '../support/browser-stage.js';
import {
  describeWithBrowser,
  startChromium,
  WITHOUT_BROWSER,
  type Chromium,
  type Tab,
} from '../support/chromium.js';
import { projectsPerTest } from '../support/daemon-project.js';
import { endingPerTest, startListening, type Listening } from '../support/listening.js';
import { argumentsOf, isAlive } from '../support/processes.js';
import { SCENARIOS, type Changes, type Stage } from '../support/s0-scenarios.js';
import { until } from '../support/until.js';
import { startWebApp, type WebApp } from '../support/web-app.js';
import { sharedWork, Work } from '../support/work.js';

const newProject = projectsPerTest();
const afterwards = endingPerTest();

async function newApp(): Promise<WebApp> {
  const app = await startWebApp();
  afterwards(() => app.stop());
  return app;
}

async function newBrowser(port = 0): Promise<Chromium> {
  const browser = await startChromium(port);
  afterwards(() => browser.end());
  return browser;
}

function listen(work: Work, ...args: string[]): Listening {
  const listening = startListening(work.root, args);
  afterwards(() => listening.end());
  return listening;
}

const healthOf = async (work: Work) =>
  (await work.call<{ telemetry: string }>('get_session_health')).telemetry;

describeWithBrowser(`what happened since somebody looked, in a browser${WITHOUT_BROWSER}`, () => {
  const work = sharedWork();
  let app: WebApp;
  let browser: Chromium;
  let tab: Tab;
  let listening: Listening;
  let stage: Stage;

  beforeAll(async () => {
    app = await startWebApp();
    browser = await startChromium();
    listening = startListening(work().root, ['--attach', String(browser.port)]);
    await listening.says('Listening to');
    tab = await browser.page();
    await tab.goTo(app.url);
    stage = browserStage({ call: (method, params) => work().call(method, params), tab, app });
    await until('the page has been told of', async () => {
      const { network } = await work().call<Changes>('get_changes_since', { client: 'setup' });
      return network?.new_endpoints.includes('/app.js') === true;
    });
  });
  afterAll(async () => {
    await listening.end();
    await browser.end();
    await app.stop();
  });

  it.each(SCENARIOS)('%s', async (_, play) => {
    await play(stage);
  });
});

describeWithBrowser(`smithyd browser${WITHOUT_BROWSER}`, () => {
  it('starts a browser of its own, tells everything from the first request on, and leaves nothing of it', async () => {
    const work = await Work.start(newProject());
    const app = await newApp();
    const listening = listen(work, '--url', `127.0.0.1:${app.port}`);
    await listening.says(`Attached to ${app.url}/`);
    const found = await until('all of it is told', async () => {
      const answer = await work.call<Changes>('get_changes_since', {
        checkpoint: '1970-01-01T00:00:00Z',
      });
      return answer.network?.total_new === 2 && answer;
    });
    // A page may be complete after the script in it is: the order is the browser's.
    expect(new Set(found.network?.new_endpoints)).toEqual(new Set(['/', '/app.js']));
    expect(found.actions?.actions).toMatchObject([{ type: 'navigation', url: `${app.url}/` }]);
    expect(found.telemetry).toBeUndefined();
    expect(await healthOf(work)).toBe('attached');
    const { pids, profile } = browserOf(listening.pid);
    expect(pids).not.toEqual([]);
    expect(existsSync(profile)).toBe(true);
    expect(await listening.end('SIGINT')).toBe(0);
    expect(pids.filter(isAlive)).toEqual([]);
    expect(existsSync(profile)).toBe(false);
    await until('it says so', async () => (await healthOf(work)) === 'detached');
    const answer = await work.call<Changes>('get_changes_since');
    expect(answer.telemetry).toBe('detached');
  });

  it('leaves no browser behind when it is killed, and the daemon says that nobody listens', async () => {
    const work = await Work.start(newProject());
    const app = await newApp();
    const listening = listen(work, '--url', app.url);
    await listening.says('Attached to');
    await until('it is attached', async () => (await healthOf(work)) === 'attached');
    const { pids, profile } = browserOf(listening.pid);
    await listening.end('SIGKILL');
    await until('it says so', async () => (await healthOf(work)) === 'detached');
    expect((await work.call<Changes>('get_changes_since')).telemetry).toBe('detached');
    await until('its browser has ended', () => pids.filter(isAlive).length === 0);
    rmSync(profile, { recursive: true, force: true });
  });

  it('follows several tabs, new ones and closed ones', async () => {
    const work = await Work.start(newProject());
    const app = await newApp();
    const browser = await newBrowser();
    const listening = listen(work, '--attach', String(browser.port));
    await listening.says('Listening to');
    const first = await browser.page();
    await first.goTo(`${app.url}/?first`);
    const second = await browser.page(`${app.url}/?second`);
    await listening.says(`Attached to ${app.url}/?first`);
    await listening.says(`Attached to ${app.url}/?second`);
    await until('it can speak', () => second.run('typeof say === "function"'));
    await work.call('get_changes_since');
    await first.run(`say('error', 'from the first')`);
    await second.run(`say('error', 'from the second')`);
    const messages = new Set<string>();
    await until('both are heard', async () => {
      const { console } = await work.call<Changes>('get_changes_since');
      for (const { message } of console?.errors ?? []) messages.add(message);
      return messages.size === 2;
    });
    await second.close();
    await listening.says(`Detached from ${app.url}/?second`);
    expect(await healthOf(work)).toBe('attached');
  });

  it('says that the browser went away, and goes on with the next one on that port', async () => {
    const work = await Work.start(newProject());
    const app = await newApp();
    const browser = await newBrowser();
    const listening = listen(work, '--attach', String(browser.port));
    await listening.says('Listening to');
    await until('it is attached', async () => (await healthOf(work)) === 'attached');
    await browser.end('SIGKILL');
    await listening.says('The browser is gone');
    await until('the daemon says so', async () => (await healthOf(work)) === 'detached');
    const next = await newBrowser(browser.port);
    await until('it listens again', () => listening.text().split('Listening to').length === 3);
    const tab = await next.page();
    await tab.goTo(app.url);
    await tab.run(`say('error', 'from the next one')`);
    await until('it is heard', async () => {
      const { console } = await work.call<Changes>('get_changes_since');
      return console?.errors[0]?.message === 'from the next one';
    });
    expect(await healthOf(work)).toBe('attached');
  });

  it('waits for a daemon that was stopped and tells the next one, which it does not start itself', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const app = await newApp();
    const browser = await newBrowser();
    const listening = listen(work, '--attach', String(browser.port));
    await listening.says('Listening to');
    const tab = await browser.page();
    await tab.goTo(app.url);
    await project.cli(['stop']);
    await listening.says('The daemon is gone');
    await tab.run(`say('error', 'while nobody listened')`);
    expect(project.daemonFile()).toBeUndefined();
    const next = await Work.start(project);
    await listening.says('Connected to the daemon again');
    await until('it is heard', async () => {
      const { console } = await next.call<Changes>('get_changes_since');
      return console?.errors[0]?.message === 'while nobody listened';
    });
    expect(await healthOf(next)).toBe('attached');
  });

  it('says how much it could not keep for a daemon that was away', async () => {
    const project = newProject();
    const work = await Work.start(project);
    const app = await newApp();
    const browser = await newBrowser();
    const listening = listen(work, '--attach', String(browser.port));
    await listening.says('Listening to');
    const tab = await browser.page();
    await tab.goTo(app.url);
    await project.cli(['stop']);
    await listening.says('The daemon is gone');
    await tab.run(`for (let number = 0; number < 8000; number++) say('log', 'again ' + number)`);
    const next = await Work.start(project);
    await listening.says(/\d+ entries came faster/u);
    await until('it is told', async () => {
      const { console } = await next.call<Changes>('get_changes_since');
      return console?.warnings.some(({ message }) => message.endsWith('are missing here'));
    });
  });

  it('says where errors come from, with what nobody caught', async () => {
    const work = await Work.start(newProject());
    const app = await newApp();
    const browser = await newBrowser();
    await listen(work, '--attach', String(browser.port)).says('Listening to');
    const tab = await browser.page();
    await tab.goTo(app.url);
    await tab.run(`say('error', 'said'), fail(), reject()`);
    const found = await until('all three are heard', async () => {
      const { console } = await work.call<Changes>('get_changes_since', {
        checkpoint: '1970-01-01T00:00:00Z',
      });
      return console?.errors.length === 3 && console.errors;
    });
    const sorted = [...found].sort((a, b) => (a.message < b.message ? -1 : 1));
    expect(sorted).toEqual([
      {
        ...{ message: 'Uncaught (in promise) Error: nobody waits for this', count: 1 },
        source: `${app.url}/app.js:8`,
      },
      {
        message: "Uncaught TypeError: Cannot read properties of null (reading 'missing')",
        ...{ source: `${app.url}/app.js:5`, count: 1 },
      },
      { message: 'said', source: `${app.url}/app.js:2`, count: 1 },
    ]);
  });
});

describe('smithyd browser without a browser', () => {
  const work = sharedWork();

  it('says what to install', async () => {
    const { code, stderr } = await work().project.cli(['browser', '--url', 'localhost:1'], {
      env: { PATH: work().root },
    });
    expect(code).toBe(69);
    expect(stderr).toContain('There is no Chromium or Chrome on PATH.');
    expect(stderr).toContain('apt-get install chromium');
  });

  it('says that there is none on that port, and how to start one there', async () => {
    const { code, stderr } = await work().project.cli(['browser', '--attach', '1']);
    expect(code).toBe(69);
    expect(stderr).toContain('No browser answers on 127.0.0.1:1.');
    expect(stderr).toContain('--remote-debugging-port=1');
  });

  it('leaves the daemon with nobody who ever told anything', async () => {
    expect((await work().call<Changes>('get_changes_since')).telemetry).toBe('none');
    await work().call('push_telemetry', { attached: [] });
    expect((await work().call<Changes>('get_changes_since')).telemetry).toBe('none');
  });

  it.each([
    [[]],
    [['--url']],
    [['--attach', 'x']],
    [['--url', 'javascript://x']],
    [['--port', '1']],
  ])('refuses %j', async (args) => {
    const { code, stderr } = await work().project.cli(['browser', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/smithyd browser --(url|help)/u);
  });
});

/** The browser that a process started, with all of its processes, and where its profile is. */
function browserOf(parent: number): { pids: number[]; profile: string } {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number);
  const group = all.find((pid) => statOf(pid)[1] === parent) ?? 0;
  const pids = all.filter((pid) => statOf(pid)[2] === group);
  const profile = pids
    .flatMap(argumentsOf)
    .find((argument) => argument.startsWith('--user-data-dir='));
  return { pids, profile: profile?.slice('--user-data-dir='.length) ?? '' };
}

/** State, parent, group. */
function statOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    return [];
  }
}
