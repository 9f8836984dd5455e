import type { Changes, Stage, Telling } from './s0-scenarios.js';

type Call = <T>(method: string, params?: object) => Promise<T>;

const SOCKET = 'ws://localhost:1234/live';

/** A program that says itself what it does, through `push_telemetry`. */
export function pushStage(call: Call): Stage {
  let names = 0;
  return {
    async tell(what) {
      await call('push_telemetry', toBatch(what));
    },
    changes: (params = {}) => call<Changes>('get_changes_since', params),
    mark: (name) => call('mark', { name }),
    newName: () => `stage_${String.fromCharCode(97 + (names++ % 26))}${'z'.repeat(names)}`,
  };
}

function toBatch(what: readonly Telling[]) {
  return {
    console: what.flatMap((one) =>
      'console' in one ? [{ level: one.console, message: one.message, source: 'app.js:10' }] : [],
    ),
    network: what.flatMap((one) =>
      'request' in one
        ? [{ url: `http://localhost:1234${one.request}`, method: 'GET', status: one.status }]
        : [],
    ),
    websocket: what.flatMap((one) => {
      if (!('websocket' in one)) return [];
      const { websocket: event, code, reason } = one;
      const why = event === 'close' ? { close_code: code, close_reason: reason } : {};
      return [{ event, url: SOCKET, id: 'one', ...why }];
    }),
    actions: what.flatMap((one) =>
      'action' in one ? [{ type: one.action, url: 'http://localhost:1234/', target: '#go' }] : [],
    ),
  };
}
