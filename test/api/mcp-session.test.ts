import { describe, expect, it } from '@jest/globals';
import { openMcpSession } from '../../src/api/mcp/session.js';
import { SmithyError, type ErrorCode } from '../../src/core/errors.js';
import { until } from '../support/until.js';

interface Answer {
  readonly id: number;
  readonly error?: { readonly code: number };
}

/** What a client is answered that reads a resource while every method fails so. */
async function readingFails(code: ErrorCode): Promise<number | undefined> {
  const answers: Answer[] = [];
  const session = openMcpSession({
    version: '1',
    ask: () => Promise.reject(new SmithyError(code, 'No.')),
    send: (line) => void answers.push(JSON.parse(line) as Answer),
    close: () => undefined,
  });
  const ask = (id: number, method: string, params: object): Promise<Answer> => {
    session.receive({ jsonrpc: '2.0', id, method, params });
    return until(`an answer to ${method}`, () => answers.find((one) => one.id === id));
  };
  const clientInfo = { name: 'test', version: '1' };
  await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  const { error } = await ask(2, 'resources/read', { uri: 'smithyd://session' });
  session.end();
  return error?.code;
}

describe('a resource that cannot be read', () => {
  it.each([
    ['DIALOG_NOT_FOUND', -32602],
    ['STORAGE_IO', -32603],
    ['BUSY', -32603],
    ['INTERNAL', -32603],
  ] as const)('because of %s is answered with %d', async (code, expected) => {
    expect(await readingFails(code)).toBe(expected);
  });
});
