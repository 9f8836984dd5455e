/**
 * A model whose words are written beforehand, behind the protocols of the providers. It keeps no state: how
 * many results of tools a request tells is the place in the script. Requests that do not offer the tool
 * of the next line, such as those for a title, are answered with a word.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { PROTOCOLS } from './protocols.mjs';

/** `script`: `{ tool, input }` for each call in turn. After the last one the model says that it is done. */
export async function startModel({ script }) {
  const heard = [];
  const server = createServer((request, response) => {
    answer(request, { response, script, heard }).catch((error) => {
      heard.push({ path: request.url, error: error.stack });
      response.writeHead(500).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Every request: its path, and where it was understood the tools it offers and the results it tells. */
    heard,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(request, { response, script, heard }) {
  const { pathname: path } = new URL(request.url, 'http://model');
  const protocol = Object.values(PROTOCOLS).find((each) => each.path.test(path));
  if (request.method !== 'POST' || protocol === undefined) {
    heard.push({ path: `${request.method} ${path}` });
    response.writeHead(404, { 'content-type': 'application/json' });
    response.end('{"error":{"type":"not_found_error","message":"There is nothing here."}}');
    return;
  }
  const body = await json(request);
  const { tools, results } = protocol.read(body);
  const line = script[results.length];
  const isListed = ({ name }) => line?.tool.test(name);
  const offered = tools.find(isListed) ?? (tools.length > 0 ? unlisted(line) : undefined);
  heard.push({ path, tools: tools.map((tool) => fullName(tool)), results, body });
  const next =
    offered === undefined ? { say: 'Done.' } : { tool: offered.name, input: line.input, offered };
  const id = `${heard.length}_${results.length}`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of protocol.stream(next, { id, model: body.model ?? 'scripted' })) {
    response.write(event);
  }
  response.end();
}

/** A tool that was found by a search may be called without being offered. */
function unlisted(line) {
  return line?.unlisted === undefined ? undefined : { name: line.unlisted };
}

function fullName({ name, namespace }) {
  return namespace === undefined ? name : `${namespace}.${name}`;
}
