import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import type { Ask } from './resources.js';
import { createMcpServer } from './server.js';

/** A connection that carries the protocol, one JSON object a line: its stdio form is our socket's. */
export interface McpChannel {
  readonly version: string;
  readonly ask: Ask;
  readonly send: (line: string) => void;
  readonly close: () => void;
}

export interface McpSession {
  receive(message: unknown): void;
  /** The other end is gone. */
  end(): void;
}

export function openMcpSession({ version, ask, send, close }: McpChannel): McpSession {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send(message) {
      send(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close() {
      close();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  const served = serveStdio(() => createMcpServer(version, ask), {
    transport,
    maxSubscriptions: 0,
  });
  return {
    receive: (message) => transport.onmessage?.(message as JSONRPCMessage),
    end: () => void served.close(),
  };
}
