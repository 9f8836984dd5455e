import { randomBytes } from 'node:crypto';
import type { Told } from '../../core/changes/told.js';
import { bounded, boundedUrl } from './bounds.js';
import { openDevtools } from './devtools.js';
import { fieldsOf, textOf, type DevtoolsEvent, type Fields } from './message.js';
import { actionScript, socketScript } from './page-scripts.js';
import { Translation, type BindingNames } from './translation.js';

export interface Page {
  /** Of the tab, as long as it is there. */
  readonly id: string;
  readonly url: string;
  readonly title: string;
}

export interface CollectorOptions {
  readonly port: number;
  /** Wall time in ms; what pages said before is no news. */
  readonly since: number;
  readonly tell: (told: Told) => void;
  /** Whenever a tab comes, goes, or goes somewhere. */
  readonly pagesChanged: (pages: readonly Page[]) => void;
}

/** A browser that is listened to, until it ends. */
export interface Collector {
  readonly product: string;
  readonly closed: Promise<void>;
  /** Leads the first tab to an address; answers what went wrong with that. */
  goTo(url: string): Promise<string | undefined>;
  /** Asks the browser to end. */
  endBrowser(): Promise<void>;
  close(): Promise<void>;
}

interface Session {
  readonly target: string;
  readonly isPage: boolean;
}

const TABS: readonly string[] = ['page', 'iframe'];
const WORKERS: readonly string[] = ['worker', 'shared_worker', 'service_worker'];
/** Tools of the browser and of extensions: nobody's project. */
const NOT_A_PAGE = /^(devtools|chrome-extension):/iu;
/** A page with more workers and frames is not one that anybody looks at. */
const MOST_SESSIONS = 500;
const SETTLED: readonly string[] = ['Page.loadEventFired', 'Page.navigatedWithinDocument'];
const LONGEST_TITLE = 200;
const WORLD = 'smithyd';
/** New tabs, frames and workers wait until they are listened to, so that nothing is missed. */
const ATTACH: Fields = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true };
/** Bodies are of no use here and would be kept by the browser. */
const NO_BODIES: Fields = { maxTotalBufferSize: 0, maxResourceBufferSize: 0 };

/** @throws SmithyError when there is no browser on that port. */
export async function collect(options: CollectorOptions): Promise<Collector> {
  const { port, since, tell, pagesChanged } = options;
  const names = bindingNames();
  const translation = new Translation(names, since);
  const sessions = new Map<string, Session>();
  const pages = new Map<string, Page>();
  const settingUp = new Set<Promise<void>>();
  const devtools = await openDevtools(port, (event) => receive(event));

  /** A target may be gone already, or not know the command: then there is nothing to be heard of it. */
  const order = async (session: string, method: string, params: Fields = {}): Promise<void> => {
    await devtools.send(method, params, session).catch(() => undefined);
  };

  function receive(event: DevtoolsEvent): void {
    const { method, params, session } = event;
    if (method === 'Target.attachedToTarget') attached(params);
    else if (method === 'Target.detachedFromTarget') detached(textOf(params['sessionId']) ?? '');
    else if (method === 'Target.targetInfoChanged') renamed(fieldsOf(params['targetInfo']));
    else {
      const from = sessions.get(session ?? '');
      const mainFrame = from?.isPage === true ? from.target : undefined;
      const told = translation.take(event, { now: Date.now(), mainFrame });
      if (told !== undefined) tell(told);
      // Where a tab goes is told by itself, what it calls itself then is not.
      if (mainFrame !== undefined && SETTLED.includes(method)) void lookUp(mainFrame);
    }
  }

  async function lookUp(target: string): Promise<void> {
    try {
      const answer = await devtools.send('Target.getTargetInfo', { targetId: target });
      renamed(fieldsOf(answer['targetInfo']));
    } catch {
      // It is gone, which is told elsewhere.
    }
  }

  function attached({ sessionId, targetInfo }: Fields): void {
    const id = textOf(sessionId) ?? '';
    const info = fieldsOf(targetInfo);
    const kind = textOf(info['type']) ?? '';
    const isForeign = NOT_A_PAGE.test(textOf(info['url']) ?? '');
    const isTab = TABS.includes(kind);
    if (isForeign || !(isTab || WORKERS.includes(kind)) || sessions.size >= MOST_SESSIONS) {
      void letGo(id);
      return;
    }
    const target = textOf(info['targetId']) ?? '';
    sessions.set(id, { target, isPage: kind === 'page' });
    const done = (isTab ? setUpTab(id) : setUpWorker(id)).then(() => {
      settingUp.delete(done);
      if (kind === 'page' && sessions.has(id) && !pages.has(target)) changed(target, info);
    });
    settingUp.add(done);
  }

  function detached(id: string): void {
    const session = sessions.get(id);
    sessions.delete(id);
    if (session?.isPage === true && pages.delete(session.target)) pagesChanged([...pages.values()]);
  }

  function renamed(info: Fields): void {
    const target = textOf(info['targetId']) ?? '';
    if (pages.has(target)) changed(target, info);
  }

  function changed(target: string, info: Fields): void {
    const url = boundedUrl(textOf(info['url']) ?? '');
    const title = bounded(textOf(info['title']) ?? '', LONGEST_TITLE);
    const known = pages.get(target);
    if (known?.url === url && known.title === title) return;
    pages.set(target, { id: target, url, title });
    pagesChanged([...pages.values()]);
  }

  /** Sent in one go, because they are carried out in their order. */
  async function setUpTab(id: string): Promise<void> {
    const add = 'Page.addScriptToEvaluateOnNewDocument';
    const always = { runImmediately: true };
    await Promise.all([
      ...listening(id),
      order(id, 'Page.enable'),
      order(id, 'Runtime.addBinding', { name: names.actions, executionContextName: WORLD }),
      order(id, add, { source: socketScript(names), ...always }),
      order(id, add, { source: actionScript(names), worldName: WORLD, ...always }),
      order(id, 'Target.setAutoAttach', ATTACH),
      order(id, 'Runtime.runIfWaitingForDebugger'),
    ]);
  }

  async function setUpWorker(id: string): Promise<void> {
    await Promise.all([
      ...listening(id),
      order(id, 'Runtime.evaluate', { expression: socketScript(names), silent: true }),
      order(id, 'Target.setAutoAttach', ATTACH),
      order(id, 'Runtime.runIfWaitingForDebugger'),
    ]);
  }

  function listening(id: string): Promise<void>[] {
    return [
      order(id, 'Runtime.enable'),
      order(id, 'Log.enable'),
      order(id, 'Network.enable', NO_BODIES),
      order(id, 'Runtime.addBinding', { name: names.sockets }),
    ];
  }

  async function letGo(id: string): Promise<void> {
    await order(id, 'Runtime.runIfWaitingForDebugger');
    await devtools.send('Target.detachFromTarget', { sessionId: id }).catch(() => undefined);
  }

  try {
    await devtools.send('Target.setDiscoverTargets', { discover: true });
    await devtools.send('Target.setAutoAttach', ATTACH);
    await Promise.all(settingUp);
  } catch (error) {
    await devtools.close();
    throw error;
  }

  return {
    product: devtools.product,
    closed: devtools.closed,
    async goTo(url) {
      const first = [...sessions].find(([, { isPage }]) => isPage)?.[0];
      if (first === undefined) {
        await devtools.send('Target.createTarget', { url });
        return undefined;
      }
      return textOf((await devtools.send('Page.navigate', { url }, first))['errorText']);
    },
    async endBrowser() {
      await devtools.send('Browser.close').catch(() => undefined);
    },
    close: () => devtools.close(),
  };
}

/** Nobody can guess them, so that a page that wants to make things up has to find them first. */
function bindingNames(): BindingNames {
  const secret = randomBytes(8).toString('hex');
  return { sockets: `smithyd_${secret}_s`, actions: `smithyd_${secret}_a` };
}
