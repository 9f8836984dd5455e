/** F123 to F140: clients that vanish, flood, dawdle or talk nonsense. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { Connection } from '../support/daemon-process.mjs';

const MEGABYTE = 1024 * 1024;
const frame = (id, method, params = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

function another(stage) {
  return Connection.open(stage.daemonFile().socket);
}

/** Sends bytes as they are; answers what came back until so many frames were there or it closed. */
async function say(stage, bytes, frames = 1) {
  const net = connect(stage.daemonFile().socket);
  net.setEncoding('utf8');
  net.on('error', () => undefined);
  await once(net, 'connect');
  let said = '';
  let isClosed = false;
  net.on('data', (text) => (said += text));
  net.on('close', () => (isClosed = true));
  net.write(bytes);
  const lines = () => said.split('\n').slice(0, -1);
  await stage.until('it was answered or closed', () => isClosed || lines().length >= frames);
  net.destroy();
  return { isClosed, answers: lines().map((line) => JSON.parse(line)) };
}

const codeOf = ({ answers: [answer] }) => answer?.error?.data.code;

/** An edit of a client that goes away without a word is taken back. */
async function vanishes(stage, leave) {
  await stage.begin();
  const client = await another(stage);
  const before = stage.read('a.txt');
  await client.must('start_edit', { files: ['a.txt'] });
  stage.put({ 'a.txt': 'half of it' });
  leave(client);
  await stage.until('the edit is over', async () => {
    return (await stage.call('list_edits')).edits.length === 0;
  });
  await stage.until('the file is back', () => stage.read('a.txt') === before);
}

/** A reader that stops reading is dropped, and the daemon stays small. */
async function dawdles(stage, open) {
  await stage.begin();
  const reader = await open();
  const { memory_bytes: before } = await stage.status();
  const note = 'n'.repeat(9_000);
  let most = 0;
  await stage.until('it is dropped', async () => {
    const notes = Array.from({ length: 200 }, (_, n) => ({ text: `${n} ${note}` }));
    await Promise.all(notes.map((params) => stage.call('note', params)));
    most = Math.max(most, (await stage.status()).memory_bytes);
    return /dropped a subscriber/u.test(stage.log());
  });
  assert(most - before < 300 * MEGABYTE, `it grew by ${(most - before) / MEGABYTE} MiB`);
  reader.destroy();
}

async function sse(stage) {
  const { url } = stage.daemonFile().http;
  const token = readFileSync(stage.path('run/token'), 'utf8').trim();
  const headers = { Authorization: `Bearer ${token}` };
  const asking = request(`${url}/api/events`, { headers });
  asking.on('error', () => undefined);
  asking.end();
  const [answer] = await once(asking, 'response');
  answer.pause();
  return answer;
}

export const clients = [
  {
    id: 'F123',
    what: 'a client hangs up in the middle of an edit',
    how: 'the connection is closed',
    run: (stage) => vanishes(stage, (client) => client.hangUp()),
  },
  {
    id: 'F124',
    what: 'a client dies between the beginning and the end of an edit',
    how: 'the connection is reset',
    run: (stage) => vanishes(stage, (client) => client.destroy()),
  },
  {
    id: 'F125',
    what: 'the same request comes twice',
    how: 'user_message with one message_id',
    async run(stage) {
      await stage.begin();
      const message = { content: 'again', message_id: 'the same' };
      const before = stage.disk();
      const [first, second] = await Promise.all([
        stage.call('user_message', message),
        stage.call('user_message', message),
      ]);
      assert.deepEqual(first, second);
      stage.acknowledge(first.checkpoint, before);
    },
  },
  {
    id: 'F126',
    what: 'a slow reader of events over HTTP',
    how: 'a response that nobody reads',
    run: (stage) => dawdles(stage, () => sse(stage)),
  },
  {
    id: 'F127',
    what: 'a slow reader of events over the socket',
    how: 'a subscriber that does not read',
    async run(stage) {
      await dawdles(stage, async () => {
        const net = connect(stage.daemonFile().socket);
        await once(net, 'connect');
        for (let id = 0; id < 50; id += 1) net.write(frame(id, 'subscribe'));
        await once(net, 'data');
        net.pause();
        return net;
      });
    },
  },
  {
    id: 'F128',
    what: 'a flood of requests',
    how: '20,000 requests at once, and a client beside it',
    async run(stage) {
      await stage.begin();
      const count = 20_000;
      const many = Array.from({ length: count }, (_, id) => frame(id, 'get_config'));
      const flood = say(stage, many.join(''), count);
      await stage.save('beside the flood');
      const { answers } = await flood;
      assert.equal(new Set(answers.map(({ id }) => id)).size, count);
    },
  },
  {
    id: 'F129',
    what: 'a frame over the limit',
    how: '20 MiB without an end',
    fast: true,
    async run(stage) {
      await stage.begin();
      const { memory_bytes: before } = await stage.status();
      const answered = await say(stage, frame(1, 'status', { padding: 'x'.repeat(20 * MEGABYTE) }));
      assert.equal(codeOf(answered), 'FRAME_TOO_LARGE');
      const { memory_bytes: after } = await stage.status();
      assert(after - before < 100 * MEGABYTE, 'it kept the frame');
    },
  },
  {
    id: 'F130',
    what: 'a frame that never ends',
    how: 'half a request; a minute later it is told and cut off',
    async run(stage) {
      await stage.begin();
      const net = connect(stage.daemonFile().socket);
      await once(net, 'connect');
      let said = '';
      net.on('data', (chunk) => (said += chunk));
      const closed = once(net, 'close');
      net.write('{"jsonrpc":"2.0",');
      await closed;
      assert.equal(JSON.parse(said).error.data.code, 'TIMEOUT');
    },
  },
  {
    id: 'F131',
    what: 'garbage instead of frames',
    how: 'random bytes, TLS and HTTP on the socket',
    async run(stage) {
      await stage.begin();
      for (const bytes of ['\x16\x03\x01\x02\x00\n', 'GET / HTTP/1.1\r\n', '{]\n', '"text"\n']) {
        const code = codeOf(await say(stage, bytes));
        assert(
          ['PARSE_ERROR', 'INVALID_REQUEST'].includes(code),
          `${JSON.stringify(bytes)} ${code}`,
        );
      }
    },
  },
  {
    id: 'F132',
    what: 'deep, wide and doubled JSON',
    how: '100,000 levels; a million keys; a key twice',
    async run(stage) {
      await stage.begin();
      const deep = `{"jsonrpc":"2.0","id":1,"method":"status","params":${'['.repeat(100_000)}${']'.repeat(100_000)}}\n`;
      const keys = Array.from({ length: 500_000 }, (_, n) => `"k${n}":0`).join(',');
      const wide = `{"jsonrpc":"2.0","id":1,"method":"status","params":{${keys}}}\n`;
      for (const bytes of [deep, wide]) {
        const code = codeOf(await say(stage, bytes));
        assert(['PARSE_ERROR', 'INVALID_REQUEST', 'INVALID_PARAMS'].includes(code), code);
      }
      const twice = '{"jsonrpc":"2.0","id":1,"method":"status","method":"shutdown"}\n';
      const code = codeOf(await say(stage, twice));
      assert(['PARSE_ERROR', 'INVALID_REQUEST'].includes(code), `a doubled key: ${code}`);
      assert.equal((await stage.status()).pid, stage.daemon.pid);
    },
  },
  {
    id: 'F133',
    what: 'prototype keys as methods and parameters',
    how: '__proto__, constructor, toString',
    async run(stage) {
      await stage.begin();
      for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
        assert.equal(codeOf(await say(stage, frame(1, name))), 'METHOD_NOT_FOUND');
        const params = `{"jsonrpc":"2.0","id":1,"method":"status","params":{"${name}":{"x":1}}}\n`;
        assert(codeOf(await say(stage, params)) !== undefined, `${name} was taken`);
      }
    },
  },
  {
    id: 'F134',
    what: 'unknown methods and wrong types',
    how: 'every kind of wrong request',
    fast: true,
    async run(stage) {
      await stage.begin();
      assert.equal((await stage.refusal('no_such', {})).code, 'METHOD_NOT_FOUND');
      assert.equal((await stage.refusal('restore', { checkpoint_id: 7 })).code, 'INVALID_PARAMS');
      assert.equal((await stage.refusal('restore', [])).code, 'INVALID_PARAMS');
      assert.equal(codeOf(await say(stage, '{"jsonrpc":"1.0","id":1}\n')), 'INVALID_REQUEST');
    },
  },
  {
    id: 'F135',
    what: 'invalid UTF-8 in a request',
    how: 'a lone continuation byte in a string',
    fast: true,
    async run(stage) {
      await stage.begin();
      const bytes = Buffer.from(frame(1, 'note', { text: 'x' }));
      bytes[bytes.indexOf('"x"') + 1] = 0x80;
      assert.equal(codeOf(await say(stage, bytes)), 'PARSE_ERROR');
    },
  },
  {
    id: 'F136',
    what: 'a path too long for a socket',
    how: 'a root of 150 bytes more',
    async run(stage) {
      stage.moveTo(join(stage.folder, 'd'.repeat(150)));
      stage.complaints.delete('disk space');
      stage.beside.add('d'.repeat(150));
      await stage.begin();
      const { socket } = stage.daemonFile();
      assert(Buffer.byteLength(socket) <= 100, socket);
      assert.equal(statSync(socket).mode & 0o777, 0o600);
      await stage.daemon.stop();
      assert(!existsSync(socket), 'the moved socket was left');
    },
  },
  {
    id: 'F137',
    what: 'the port of HTTP is taken',
    how: 'another server on it',
    fast: true,
    async run(stage) {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      stage.onHeal(() => server.close());
      await stage.begin();
      await stage.call('update_config', { http: { port: server.address().port } });
      await stage.until('it is told', async () => {
        return (await stage.warnings()).includes(String(server.address().port));
      });
      await stage.save('over the socket');
      await stage.call('update_config', { http: { port: 0 } });
    },
  },
  {
    id: 'F138',
    what: 'the token is readable by everybody, or a link',
    how: 'modes and a link at its path before the start',
    async run(stage) {
      await stage.begin();
      const old = readFileSync(stage.path('run/token'), 'utf8');
      await stage.daemon.stop();
      writeFileSync(stage.path('run/token'), 'known to everybody', { mode: 0o666 });
      chmodSync(stage.path('run/token'), 0o666);
      await stage.start({});
      // A new one at each start, whatever was there.
      const fresh = readFileSync(stage.path('run/token'), 'utf8');
      assert(!['known to everybody', old].includes(fresh));
      assert.equal(statSync(stage.path('run/token')).mode & 0o777, 0o600);
      await stage.daemon.stop();
      symlinkSync(join(stage.outside, 'token'), stage.path('run/token'));
      await stage.start({}).catch(() => undefined);
      assert(!existsSync(join(stage.outside, 'token')), 'the token was written through a link');
      if (!stage.isGone()) await stage.daemon.stop();
      rmSync(stage.path('run/token'), { force: true });
    },
  },
  {
    id: 'F139',
    what: 'a subscriber goes on from a place that is gone',
    how: 'a cursor of the future and one that is none',
    async run(stage) {
      await stage.begin();
      const { gap } = await stage.call('subscribe', { since: '999999' });
      assert.equal(gap, true, 'it is not told that something may be missing');
    },
  },
  {
    id: 'F140',
    what: 'a stop while work is under way',
    how: 'SIGTERM in the middle of a checkpoint of many files',
    async run(stage) {
      await stage.begin();
      mkdirSync(stage.at('many'));
      for (let n = 0; n < 500; n += 1) writeFileSync(stage.at(`many/f${n}`), `${n}\n`.repeat(50));
      const before = stage.disk();
      const saving = stage.call('create_checkpoint', { message: 'last' }).catch((error) => error);
      assert.equal(await stage.daemon.stop(), 0);
      const answer = await saving;
      if (answer instanceof Error) assert(['SHUTTING_DOWN', 'CLOSED'].includes(answer.code));
      else stage.acknowledge(answer.commit_id, before);
    },
  },
];
