import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Connection, type WireLimits } from '../../src/api/connection.js';

/** Just enough of a socket to see what a connection does with it, without a real clock. */
class FakeSocket extends EventEmitter {
  readonly written: string[] = [];
  writable = true;
  writableLength = 0;
  destroyed = false;
  paused = false;
  setTimeout(): void {
    // The idle time is the socket's own affair.
  }
  write(text: string): void {
    this.written.push(text);
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  isPaused(): boolean {
    return this.paused;
  }
  destroySoon(): void {
    this.destroyed = true;
  }
}

const LIMITS: WireLimits = {
  maxFrameBytes: () => 1024,
  partialFrameMs: 1000,
  idleMs: 0,
  inFlight: 1,
  unsentBytes: 1024,
};

function connect(answer: Promise<unknown> = Promise.resolve({})): FakeSocket {
  const socket = new FakeSocket();
  new Connection(socket as unknown as Socket, {
    limits: LIMITS,
    dispatch: () => answer,
    workspace: {} as never,
    log: { write: () => undefined },
    refuse: () => undefined,
    onIdle: () => undefined,
    onDropped: () => undefined,
  });
  return socket;
}

const frame = '{"jsonrpc":"2.0","id":1,"method":"x"}\n';
const send = (socket: FakeSocket, text: string): boolean => socket.emit('data', Buffer.from(text));

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('the time a frame may take', () => {
  it('is over when nothing follows its beginning', () => {
    const socket = connect();
    send(socket, '{"json');
    jest.advanceTimersByTime(999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
    expect(socket.written.join('')).toContain('TIMEOUT');
  });

  it('is over however many single bytes follow', () => {
    const socket = connect();
    for (let at = 0; at < 10; at++) {
      send(socket, ' ');
      jest.advanceTimersByTime(100);
    }
    expect(socket.destroyed).toBe(true);
  });

  it('begins anew with each frame of a client that never pauses', async () => {
    const socket = connect();
    send(socket, frame.slice(0, 5));
    for (let at = 0; at < 30; at++) {
      await jest.advanceTimersByTimeAsync(100);
      send(socket, frame.slice(5) + frame.slice(0, 5));
    }
    expect(socket.destroyed).toBe(false);
  });

  it('stands still while it is the daemon that does not read', async () => {
    let finish: (result: unknown) => void = () => undefined;
    const socket = connect(new Promise((resolve) => (finish = resolve)));
    send(socket, frame + frame + frame.slice(0, 5));
    await jest.advanceTimersByTimeAsync(5000);
    expect({ paused: socket.paused, destroyed: socket.destroyed }).toEqual({
      paused: true,
      destroyed: false,
    });
    finish({});
    await jest.advanceTimersByTimeAsync(500);
    expect(socket.paused).toBe(false);
    await jest.advanceTimersByTimeAsync(1000);
    expect(socket.destroyed).toBe(true);
  });
});
