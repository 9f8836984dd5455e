import { processEnvironment } from '../../config.js';
import { SmithyError } from '../../core/errors.js';
import type { StreamedEvent } from '../../core/events.js';
import { findRoot } from '../../host/find-root.js';
import { createClient } from '../../client/client.js';
import type { GlobalFlags } from '../args.js';
import { printable, printableJson } from '../text.js';

/** The live feed. It outlives restarts of the daemon; Ctrl-C ends it. */
export async function watch(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const types = readTypes(words);
  const root = findRoot(globals.root, process.cwd());
  const client = await createClient({ root, startFrom: processEnvironment, force: globals.force });
  const filter = types.length === 0 ? {} : { types: types as StreamedEvent['type'][] };
  const end = await client.subscribe(filter, (event) => {
    process.stdout.write(globals.json ? printableJson(event) : `${describe(event)}\n`);
  });
  if (!globals.json) process.stderr.write(`Listening to ${printable(root)}; Ctrl-C ends it.\n`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await end();
  await client.close();
  return 0;
}

const MOST_SHOWN = 8;

function describe(event: StreamedEvent): string {
  return printable(`${event.at.slice(11, 19)}  ${event.type.padEnd(16)}  ${details(event)}`);
}

/** The files for a person; other events are short enough as they are. */
function details({ type, at: _at, cursor: _cursor, ...rest }: StreamedEvent): string {
  if (type !== 'unknown_change') return JSON.stringify(rest);
  const { changes, total, origin } = rest as unknown as UnknownChange;
  const shown = changes.slice(0, MOST_SHOWN).map(({ path, change }) => `${change} ${path}`);
  if (total > shown.length) shown.push(`and ${total - shown.length} more`);
  return `${shown.join(', ')}${origin === 'live' ? '' : ` (${origin})`}`;
}

interface UnknownChange {
  readonly changes: readonly { readonly path: string; readonly change: string }[];
  readonly total: number;
  readonly origin: string;
}

function readTypes(words: readonly string[]): string[] {
  const types: string[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const value = words[at + 1];
    if (words[at] !== '--type' || value === undefined) {
      throw new SmithyError('INVALID_PARAMS', `watch does not know ${words[at] ?? ''}.`, {
        hint: 'Use --type TYPE, as often as needed.',
      });
    }
    types.push(value);
  }
  return types;
}
