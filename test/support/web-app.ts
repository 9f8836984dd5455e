import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveWebSockets, type ServedSocket } from './websocket-server.js';

/** The lines of the script are counted by tests: `console.error` stands in line 2 and so on. */
const SCRIPT = `globalThis.say = (level, message) => {
  console[level](message);
};
globalThis.fail = () => {
  setTimeout(() => { null.missing(); });
};
globalThis.reject = () => {
  Promise.reject(new Error('nobody waits for this'));
};
globalThis.ask = async (path, status) => {
  await (await fetch(path, { headers: { 'x-status': String(status) } })).text();
};
globalThis.connect = () => new Promise((resolve, reject) => {
  globalThis.live = new WebSocket('ws://' + location.host + '/live');
  live.onopen = resolve;
  live.onerror = reject;
});
`;

const PAGE = `<!doctype html><title>A small shop</title><link rel="icon" href="data:,">
<style>#go, #name, #secret, #card { position: fixed; left: 0; width: 200px; height: 40px }</style>
<button id="go" style="top: 0">Go</button>
<input id="name" style="top: 50px"><input id="secret" type="password" style="top: 100px">
<input id="card" autocomplete="billing cc-number" style="top: 150px">
<script src="/app.js"></script>`;

/** A small site of its own: pages, answers with whatever status, and WebSockets. */
export interface WebApp {
  readonly url: string;
  readonly port: number;
  readonly sockets: readonly ServedSocket[];
  stop(): Promise<void>;
}

export async function startWebApp(pages: Readonly<Record<string, string>> = {}): Promise<WebApp> {
  const server = createServer((request, response) => answer(request, response, pages));
  const sockets = serveWebSockets(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, sockets, stop: () => stop(server, sockets) };
}

function answer(
  { url = '/', headers }: IncomingMessage,
  response: ServerResponse,
  pages: Readonly<Record<string, string>>,
): void {
  const [path = '/'] = url.split('?');
  const page = pages[path] ?? (path === '/app.js' ? SCRIPT : path === '/' ? PAGE : undefined);
  if (path === '/never') return;
  response.statusCode = Number(headers['x-status'] ?? 200);
  response.setHeader('cache-control', 'no-store');
  const isScript = path.endsWith('.js');
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
  response.end(page ?? 'nothing but an answer');
}

async function stop(server: Server, sockets: readonly ServedSocket[]): Promise<void> {
  for (const socket of sockets) socket.drop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
