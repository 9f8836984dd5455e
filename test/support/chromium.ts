import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import CDP from 'chrome-remote-interface';
import { findBrowser } from '../../src/telemetry/browser/launch.js';
import { temporaryFolder } from './daemon-project.js';
import { plainEnvironment, signal } from './processes.js';
import { soon, until } from './until.js';

/** A browser of a test, which knows nothing of smithyd. */
export interface Chromium {
  readonly port: number;
  readonly pid: number;
  /** The first tab, or a new one. */
  page(url?: string): Promise<Tab>;
  end(how?: NodeJS.Signals): Promise<void>;
}

/** A tab, and a hand on it. */
export interface Tab {
  readonly id: string;
  goTo(url: string): Promise<void>;
  /** What an expression is worth, once it is settled. */
  run<T>(expression: string): Promise<T>;
  /** As somebody with a mouse does it. */
  click(x: number, y: number): Promise<void>;
  /** As somebody with a keyboard does it. */
  type(text: string): Promise<void>;
  close(): Promise<void>;
}

const PROGRAM = find();

/** For tests that need a browser; where there is none they are skipped by their names. */
export const describeWithBrowser = PROGRAM === undefined ? describe.skip : describe;
export const WITHOUT_BROWSER = PROGRAM === undefined ? ' (skipped: no Chromium on PATH)' : '';

function find(): string | undefined {
  try {
    return findBrowser(process.env['PATH'] ?? '', true);
  } catch {
    return undefined;
  }
}

/** A port of 0: whichever it picks. */
export async function startChromium(port = 0): Promise<Chromium> {
  const profile = temporaryFolder();
  const isShell = PROGRAM?.endsWith('headless-shell') === true;
  const flags = [
    ...[`--remote-debugging-port=${port}`, `--user-data-dir=${profile}`, '--disable-quic'],
    ...['--no-first-run', '--disable-background-networking', '--disable-component-update'],
    ...(isShell ? [] : ['--headless=new']),
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    'about:blank',
  ];
  const env = plainEnvironment();
  const child = spawn(PROGRAM ?? '', flags, { env, stdio: 'ignore', detached: true });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const pid = child.pid ?? 0;
  const file = join(profile, 'DevToolsActivePort');
  const listens = await until('the browser listens', () => {
    const [, found] = existsSync(file) ? (/^(\d+)\n/u.exec(readFileSync(file, 'utf8')) ?? []) : [];
    return found === undefined ? undefined : Number(found);
  });
  return {
    port: listens,
    pid,
    async page(url) {
      const found =
        url === undefined
          ? (await CDP.List({ port: listens })).find(({ type }) => type === 'page')
          : await CDP.New({ port: listens, url });
      return openTab(listens, found?.id ?? '');
    },
    async end(how = 'SIGTERM') {
      signal(-pid, how);
      await soon('the end of the browser', ended);
      signal(-pid, 'SIGKILL');
      await until('nothing holds its profile', () => {
        rmSync(profile, { recursive: true, force: true });
        return !existsSync(profile);
      });
    },
  };
}

interface Evaluated {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: object;
}

async function openTab(port: number, id: string): Promise<Tab> {
  const client = await CDP({ port, target: id, local: true });
  await client.Page.enable();
  return {
    id,
    async goTo(url) {
      const loaded = client.Page.loadEventFired();
      await client.Page.navigate({ url });
      await soon(`${url} is loaded`, loaded);
    },
    async run<T>(expression: string) {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const answer = (await client.Runtime.evaluate(options)) as Evaluated;
      if (answer.exceptionDetails !== undefined) {
        throw new Error(`${expression}: ${JSON.stringify(answer.exceptionDetails)}`);
      }
      return answer.result.value as T;
    },
    async click(x, y) {
      const at = { x, y, button: 'left', clickCount: 1 } as const;
      await client.Input.dispatchMouseEvent({ type: 'mousePressed', ...at });
      await client.Input.dispatchMouseEvent({ type: 'mouseReleased', ...at });
    },
    async type(text) {
      for (const sign of text) {
        await client.Input.dispatchKeyEvent({ type: 'keyDown', text: sign, key: sign });
        await client.Input.dispatchKeyEvent({ type: 'keyUp', key: sign });
      }
    },
    async close() {
      await CDP.Close({ port, id });
      await client.close();
    },
  };
}
