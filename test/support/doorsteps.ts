import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CLI, type Project } from './daemon-project.js';
import { HttpClient } from './http.js';
import { plainEnvironment } from './processes.js';
import { ipcRequest, type WireError } from './raw-socket.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a method answered: the same whichever way it was asked. */
export type Outcome = { readonly result: Fields } | { readonly error: Fields };

export interface Doorstep {
  ask(method: string, params?: Fields): Promise<Outcome>;
  close(): Promise<void>;
}

/** Every way to reach the daemon. */
export const DOORSTEPS: Readonly<Record<string, (project: Project) => Promise<Doorstep>>> = {
  async socket(project) {
    const socket = await project.socket();
    return {
      async ask(method, params = {}) {
        const { result, error } = await socket.call(method, params);
        return result === undefined ? { error: flat(error) } : { result };
      },
      close: () => Promise.resolve(),
    };
  },

  async 'node-ipc envelope'(project) {
    const socket = await project.socket();
    let id = 0;
    return {
      async ask(method, params = {}) {
        socket.send(ipcRequest(method, { id: ++id, params }));
        const { result, error } = await socket.answer(id);
        return result === undefined ? { error: flat(error) } : { result };
      },
      close: () => Promise.resolve(),
    };
  },

  http(project) {
    const http = new HttpClient(project);
    return Promise.resolve({
      async ask(method: string, params: Fields = {}) {
        const { json } = await http.rpc(method, params);
        const { error } = json as { error?: Fields };
        return error === undefined ? { result: json } : { error };
      },
      close: () => Promise.resolve(),
    });
  },

  'mcp on stdio': async (project) => fromMcp(await mcpOnStdio(project)),
  'mcp over http': async (project) => fromMcp(await mcpOverHttp(project)),
};

/** `auto` speaks the protocol of 2026 with whoever can, `legacy` that of 2025. */
export type Era = 'legacy' | 'auto';

const newClient = (mode: Era): Client =>
  new Client({ name: 'a test', version: '1' }, { versionNegotiation: { mode } });

export async function mcpOnStdio(project: Project, era: Era = 'legacy'): Promise<Client> {
  const client = newClient(era);
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI, '--root', project.root, 'mcp'],
      env: plainEnvironment(),
      stderr: 'ignore',
    }),
  );
  return client;
}

export async function mcpOverHttp(project: Project, era: Era = 'legacy'): Promise<Client> {
  const { url, token } = new HttpClient(project);
  const headers = { authorization: `Bearer ${token}` };
  const client = newClient(era);
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }),
  );
  return client;
}

function fromMcp(client: Client): Doorstep {
  return {
    async ask(method, params = {}) {
      const answer = await client.callTool({ name: method, arguments: params });
      const content = answer.structuredContent as Fields & { error?: Fields };
      return answer.isError === true ? { error: content.error ?? {} } : { result: content };
    },
    close: () => client.close(),
  };
}

function flat(error: WireError | undefined): Fields {
  const { message, data = {} } = error ?? {};
  return { message, ...data };
}
