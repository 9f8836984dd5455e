import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Envelope } from '../../src/api/framing.js';
import {
  answerBody,
  frameAnswer,
  frameBatch,
  frameEvent,
  isRefusal,
  parseMessage,
} from '../../src/api/messages.js';
import { SmithyError } from '../../src/core/errors.js';

function single(text: string | Buffer, envelope: Envelope = 'jsonrpc'): unknown {
  const parsed = parseMessage(Buffer.from(text), envelope);
  if (parsed.kind !== 'single') return parsed.items;
  return isRefusal(parsed.item) ? [parsed.item.id, parsed.item.error.code] : parsed.item;
}

describe('a frame', () => {
  it('never makes the reader throw', () => {
    const envelope = fc.constantFrom<Envelope>('jsonrpc', 'node-ipc');
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc.json().map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, envelope, (frame, kind) => {
        expect(['single', 'batch']).toContain(parseMessage(frame, kind).kind);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    [
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":2}}',
      { id: 1, method: 'a', params: { b: 2 } },
    ],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', { id: null, method: 'a', params: undefined }],
    ['{"jsonrpc":"2.0","method":"a"}', { method: 'a', params: undefined }],
    ['{"jsonrpc":"1.0","id":4,"method":"a"}', [4, 'INVALID_REQUEST']],
    ['{"jsonrpc":"2.0","id":4}', [4, 'INVALID_REQUEST']],
    ['{"jsonrpc":"2.0","id":[],"method":"a"}', [null, 'INVALID_REQUEST']],
    ['[]', [null, 'INVALID_REQUEST']],
    ['nonsense', [null, 'PARSE_ERROR']],
    ['{"a":1,"a":2}', [null, 'PARSE_ERROR']],
  ])('%s is understood', (text, meaning) => {
    expect(single(text)).toEqual(meaning);
  });

  it.each([
    ['{"type":"a","data":{"id":1,"params":{}}}', { id: 1, method: 'a', params: {} }],
    ['{"type":"a","data":{}}', { id: null, method: 'a', params: undefined }],
    ['{"type":"a"}', { id: null, method: 'a', params: undefined }],
    ['{"type":5}', [null, 'INVALID_REQUEST']],
    ['[{"type":"a"}]', [null, 'INVALID_REQUEST']],
  ])("%s is understood in node-ipc's envelope", (text, meaning) => {
    expect(single(text, 'node-ipc')).toEqual(meaning);
  });
});

describe('an answer', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('\n', '\f', '"', '\u2028', '\\'));

  it('is one frame of JSON whatever it holds', () => {
    fc.assert(
      fc.property(text, fc.jsonValue(), (id, result) => {
        const body = answerBody(id, { result });
        const line = frameAnswer('jsonrpc', body);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual(
          JSON.parse(JSON.stringify({ jsonrpc: '2.0', id, result })),
        );
        const ipc = frameAnswer('node-ipc', body);
        expect(ipc.indexOf('\f')).toBe(ipc.length - 1);
        expect(JSON.parse(ipc.slice(0, -1))).toMatchObject({ type: 'reply', data: { id } });
      }),
    );
  });

  it('that is an error carries number, name and hint', () => {
    const error = new SmithyError('BUSY', 'Later.', { hint: 'Wait.' });
    expect(JSON.parse(frameAnswer('jsonrpc', answerBody(7, { error })))).toEqual({
      jsonrpc: '2.0',
      id: 7,
      error: {
        code: -32070,
        message: 'Later.',
        data: { code: 'BUSY', hint: 'Wait.', retry_after_ms: 500 },
      },
    });
  });

  it('to a batch is a list', () => {
    const bodies = [1, 2].map((id) => answerBody(id, { result: {} }));
    expect(JSON.parse(frameBatch(bodies))).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: {} },
    ]);
  });
});

describe('an event', () => {
  it('comes as a notification, or as node-ipc sends it', () => {
    const event = { type: 'config_changed', cursor: 'r-1', at: 'now' } as const;
    expect(JSON.parse(frameEvent('jsonrpc', event))).toEqual({
      jsonrpc: '2.0',
      method: 'event',
      params: event,
    });
    expect(JSON.parse(frameEvent('node-ipc', event).slice(0, -1))).toEqual({
      type: 'event',
      data: event,
    });
  });
});
