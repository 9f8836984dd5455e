/** The least a JSON-lines server on a socket can do: ADDRESS ANSWER. Parses each line, answers with its id. */
import { createServer } from 'node:net';

const [address, answer] = process.argv.slice(2);
const result = JSON.parse(answer);

createServer((socket) => {
  let unread = '';
  socket.setEncoding('utf8');
  socket.on('data', (text) => {
    const lines = (unread + text).split('\n');
    unread = lines.pop();
    for (const line of lines) {
      const { id } = JSON.parse(line);
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
    }
  });
  socket.on('error', () => undefined);
}).listen(address, () => process.stdout.write('ready\n'));
