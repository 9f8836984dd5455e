import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newProject, type Project } from '../support/daemon-project.js';
import { Random } from '../support/random.js';
import { ipcRequest, RawSocket, request } from '../support/raw-socket.js';

const FRAMES = 10_000;
/** Small, so that thousands of frames can pass it in little time. */
const MAX_FRAME_BYTES = 65_536;
const MOST_GROWTH = 100 * 1024 * 1024;
const METHODS = ['status', 'get_config', 'get_metrics', 'subscribe', 'nothing', '__proto__'];

let project: Project;
let pid: number;

beforeAll(async () => {
  project = newProject();
  ({ pid } = await project.startDaemon());
  await project.cli(['config', 'set', 'wire.maxFrameBytes', String(MAX_FRAME_BYTES)]);
});
afterAll(() => project.remove());

function sound(random: Random): string {
  const method = random.pick(METHODS);
  return random.below(2) === 0
    ? request(random.below(1000), method)
    : ipcRequest(method, { id: random.below(1000), params: {} });
}

/** Each gives the bytes of one frame, most of them with its end. */
const MAKERS: readonly ((random: Random) => string | Buffer)[] = [
  sound,
  (random) => random.bytes(random.below(400)),
  (random) => Buffer.concat([random.bytes(random.below(200)), Buffer.from('\n')]),
  // Cut: what follows becomes its end.
  (random) => {
    const text = sound(random);
    return text.slice(0, random.below(text.length));
  },
  // Some bytes of a sound one replaced.
  (random) => {
    const bytes = Buffer.from(sound(random));
    for (let times = 0; times < 3; times++) bytes[random.below(bytes.length)] = random.below(256);
    return bytes;
  },
  (random) => `${'x'.repeat(MAX_FRAME_BYTES + random.below(2000))}${random.pick(['\n', '\f', ''])}`,
  (random) => `${random.pick(['[', '{"a":', '[{"a":[']).repeat(60 + random.below(5000))}\n`,
  (random) => `[${'0,'.repeat(random.below(20_000))}0]\n`,
  (random) => `[${Array.from({ length: 257 + random.below(50) }, () => '{}').join(',')}]\n`,
  (random) => `{"jsonrpc":"2.0","id":${random.below(9)},"id":1,"method":"status"}\n`,
  (random) => {
    const key = random.pick([
      '__proto__',
      '\\u005f_proto__',
      'constructor',
      'prototype',
      'toString',
    ]);
    return `{"jsonrpc":"2.0","id":1,"method":"update_config","params":{"${key}":{"polluted":1}}}\n`;
  },
  (random) => {
    const wrong = random.pick([[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf8, 0x88], [0x80]]);
    return Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":"'),
      Buffer.from(wrong),
      Buffer.from('"}\n'),
    ]);
  },
  (random) =>
    random.pick(['null\n', '5\f', '""\n', '[]\n', '{}\f', '\f\f\f', '\0\n', '"\\ud800"\n']),
  (random) => `{"jsonrpc":"2.0","id":1e${random.below(999)},"method":${random.below(9)}}\n`,
];

/** Sends its share of the frames; hangs up and comes again now and then, as broken clients do. */
async function attack(random: Random, frames: number): Promise<void> {
  let socket = await RawSocket.connect(project.path('run/smithyd.sock'));
  for (let sent = 0; sent < frames; sent++) {
    if (socket.isClosed || random.below(200) === 0) {
      socket.destroy();
      socket = await RawSocket.connect(project.path('run/smithyd.sock'));
    }
    socket.send(random.pick(MAKERS)(random));
    // Neither the client nor the kernel is under test: what was sent is to be read.
    if (sent % 20 === 19 && !socket.isClosed) {
      socket.send('\n');
      const { result } = await socket.call('status');
      expect(result?.['pid']).toBe(pid);
      socket.received.length = 0;
    }
  }
  socket.destroy();
}

/** Goes on as long as the attack does, and counts its right answers. */
async function honest(isOver: () => boolean): Promise<number> {
  const socket = await RawSocket.connect(project.path('run/smithyd.sock'));
  let right = 0;
  while (!isOver()) {
    const [status, config, wrong] = await Promise.all([
      socket.call('status'),
      socket.call('get_config'),
      socket.call('stauts'),
    ]);
    expect(status.result).toMatchObject({ pid, root: project.root });
    expect(config.result?.['wire']).toEqual({ maxFrameBytes: MAX_FRAME_BYTES });
    expect(wrong.error?.data['code']).toBe('METHOD_NOT_FOUND');
    socket.received.length = 0;
    right++;
  }
  socket.destroy();
  return right;
}

describe('ten thousand hostile frames', () => {
  it('neither end the daemon, nor fill its memory, nor disturb honest clients', async () => {
    const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
    try {
      const before = (await project.status()).memory_bytes;
      let isOver = false;
      const clients = [1, 2, 3].map(() => honest(() => isOver));
      const attackers = 4;
      const attacks = Array.from({ length: attackers }, (_, at) =>
        attack(new Random(seed + at), FRAMES / attackers),
      );
      await Promise.all(attacks).finally(() => (isOver = true));
      for (const right of await Promise.all(clients)) expect(right).toBeGreaterThan(0);
      const after = await project.status();
      expect(after.pid).toBe(pid);
      expect(after.memory_bytes - before).toBeLessThan(MOST_GROWTH);
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    } catch (error) {
      throw new Error(`failed with FUZZ_SEED=${seed}`, { cause: error });
    }
  }, 170_000);
});
