import type { WebsocketEntry, Window } from './streams.js';

export interface Disconnection {
  readonly url: string;
  readonly closeCode: number | null;
  readonly closeReason: string | null;
  readonly count: number;
}

export interface SocketError {
  readonly url: string;
  readonly message: string | null;
  readonly count: number;
}

export interface WebsocketNews {
  readonly total: number;
  readonly disconnections: readonly Disconnection[];
  readonly connections: readonly string[];
  readonly errors: readonly SocketError[];
  readonly noise: number;
}

type Seen = WebsocketEntry & { readonly noise?: string | undefined };

export function websocketNews(window: Window<Seen>): WebsocketNews {
  const disconnections = new Map<string, Disconnection>();
  const errors = new Map<string, SocketError>();
  const connections = new Set<string>();
  let noise = 0;
  for (const { event, url, closeCode, closeReason, message, noise: rule } of window.entries) {
    if (rule !== undefined) noise += 1;
    else if (event === 'open') connections.add(url);
    else if (event === 'close') {
      const key = JSON.stringify([url, closeCode, closeReason]);
      const count = (disconnections.get(key)?.count ?? 0) + 1;
      disconnections.set(key, { url, closeCode, closeReason, count });
    } else if (event === 'error') {
      const key = JSON.stringify([url, message]);
      errors.set(key, { url, message, count: (errors.get(key)?.count ?? 0) + 1 });
    }
  }
  return {
    total: window.entries.length + window.evicted,
    disconnections: [...disconnections.values()],
    connections: [...connections],
    errors: [...errors.values()],
    noise,
  };
}
