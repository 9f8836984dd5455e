import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FrameSplitter, type Frame } from '../../src/api/framing.js';

const LIMIT = 12;

function split(pieces: readonly Buffer[], limit = LIMIT): { frames: string[]; isPartial: boolean } {
  const splitter = new FrameSplitter(() => limit);
  const frames = pieces.flatMap((piece) => splitter.push(piece)).map(describeFrame);
  return { frames, isPartial: splitter.isPartial };
}

function describeFrame(frame: Frame): string {
  return `${frame.envelope} ${frame.kind === 'whole' ? frame.bytes.toString('latin1') : 'TOO LARGE'}`;
}

describe('a stream of bytes', () => {
  it('is cut at newlines and form feeds, each with its envelope', () => {
    const { frames, isPartial } = split([Buffer.from('one\ntwo\fthree\nfo')]);
    expect(frames).toEqual(['jsonrpc one', 'node-ipc two', 'jsonrpc three']);
    expect(isPartial).toBe(true);
  });

  it('gives the same frames wherever it is cut in two', () => {
    const stream = Buffer.from('{"a":1}\n\n{"ü":2}\fwaytoolongforalimit\n \r\nx\fhalf');
    const whole = split([stream]);
    expect(whole.frames).toHaveLength(4);
    for (let at = 0; at <= stream.length; at++) {
      expect(split([stream.subarray(0, at), stream.subarray(at)])).toEqual(whole);
    }
  });

  it('gives the same frames however it is cut', () => {
    const part = fc.constantFrom('\n', '\f', 'a', '{}', '   ', 'abcdef', '\r', '\u00e9');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.array(fc.nat(40)), (parts, cuts) => {
        const stream = Buffer.from(parts.join(''));
        const edges = [
          ...new Set([0, ...cuts.filter((cut) => cut < stream.length), stream.length]),
        ];
        edges.sort((a, b) => a - b);
        const pieces = edges.slice(1).map((end, at) => stream.subarray(edges[at], end));
        expect(split(pieces)).toEqual(split([stream]));
      }),
      { numRuns: 1000 },
    );
  });

  it('passes over blank frames', () => {
    expect(split([Buffer.from('\n\r\n \n\f\t\f')]).frames).toEqual([]);
  });

  it('is sound again after a frame that is too large', () => {
    const large = Buffer.from('x'.repeat(1000));
    const { frames, isPartial } = split([large, large, Buffer.from('tail\nok\n'), large]);
    expect(frames).toEqual(['jsonrpc TOO LARGE', 'jsonrpc ok']);
    expect(isPartial).toBe(true);
  });

  it('may fill the limit to its last byte', () => {
    expect(split([Buffer.from('123456789012\n1234567890123\n')]).frames).toEqual([
      'jsonrpc 123456789012',
      'jsonrpc TOO LARGE',
    ]);
  });

  it('obeys a limit that changes on the way', () => {
    let limit = 5;
    const splitter = new FrameSplitter(() => limit);
    expect(splitter.push(Buffer.from('1234567\n')).map(describeFrame)).toEqual([
      'jsonrpc TOO LARGE',
    ]);
    limit = 10;
    expect(splitter.push(Buffer.from('1234567\n')).map(describeFrame)).toEqual(['jsonrpc 1234567']);
  });

  it('does not keep the chunk alive that a frame began in', () => {
    const splitter = new FrameSplitter(() => 1000);
    const chunk = Buffer.from('one\ntw');
    splitter.push(chunk);
    chunk.fill(0x21);
    expect(splitter.push(Buffer.from('o\n')).map(describeFrame)).toEqual(['jsonrpc two']);
  });
});
