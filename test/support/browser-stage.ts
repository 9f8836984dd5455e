import type { Tab } from './chromium.js';
import type { Changes, Stage, Telling } from './s0-scenarios.js';
import { until } from './until.js';
import type { WebApp } from './web-app.js';

type Call = <T>(method: string, params?: object) => Promise<T>;

interface Scene {
  readonly call: Call;
  readonly tab: Tab;
  readonly app: WebApp;
}

const STREAMS = ['console', 'network', 'websocket', 'actions'] as const;

/** A page in a real browser that does all of it, and somebody who listens to that browser. */
export function browserStage(scene: Scene): Stage {
  const { call } = scene;
  let names = 0;
  const changes = (params = {}) => call<Changes>('get_changes_since', params);
  return {
    async tell(what) {
      const { cursor } = await changes({ client: 'the stage', include: STREAMS });
      for (const one of what) await perform(scene, one);
      await until(`the daemon knows of ${what.length} things`, async () => {
        const found = await changes({ checkpoint: cursor, include: STREAMS, max_bytes: 512 });
        return STREAMS.every((stream) => (found[stream]?.total_new ?? 0) >= count(what, stream));
      });
    },
    changes,
    mark: (name) => call('mark', { name }),
    newName: () => `page_${String.fromCharCode(97 + (names++ % 26))}${'z'.repeat(names)}`,
  };
}

async function perform({ tab, app }: Scene, one: Telling): Promise<void> {
  if ('console' in one) {
    const level = one.console === 'warning' ? 'warn' : one.console;
    await tab.run(`say(${JSON.stringify(level)}, ${JSON.stringify(one.message)})`);
  } else if ('request' in one) {
    await tab.run(`ask(${JSON.stringify(one.request)}, ${one.status})`);
  } else if ('action' in one) {
    await tab.click(20, 20);
  } else if (one.websocket === 'open') {
    await tab.run('connect().then(() => 1)');
  } else {
    app.sockets.at(-1)?.close(one.code ?? 1000, one.reason ?? '');
  }
}

function count(what: readonly Telling[], stream: (typeof STREAMS)[number]): number {
  const key = { console: 'console', network: 'request', websocket: 'websocket', actions: 'action' };
  return what.filter((one) => key[stream] in one).length;
}
