import { processEnvironment, wantsColour } from '../../config.js';
import { SmithyError } from '../../core/errors.js';
import type { StreamedEvent } from '../../core/events.js';
import { findRoot } from '../../host/find-root.js';
import { createClient } from '../../client/client.js';
import type { GlobalFlags } from '../args.js';
import { Feed } from '../feed.js';
import { printable, printableJson } from '../text.js';

/** The live feed. It outlives restarts of the daemon; Ctrl-C ends it. */
export async function watch(globals: GlobalFlags, words: readonly string[]): Promise<number> {
  const types = readTypes(words);
  const root = findRoot(globals.root, process.cwd());
  const { stdout } = process;
  // Asked anew for each line: windows change their size. A pipe has no width.
  const look = () => ({ root, colour: wantsColour(stdout), width: columnsOf(stdout) });
  const feed = new Feed(look);
  const client = await createClient({ root, startFrom: processEnvironment, force: globals.force });
  feed.knows((await client.list_edits({})).edits);
  const filter = types.length === 0 ? {} : { types: types as StreamedEvent['type'][] };
  const end = await client.subscribe(
    filter,
    (event) => {
      stdout.write(globals.json ? printableJson(event) : feed.line(event));
    },
    (isThere) => {
      const text = isThere ? 'connected again' : 'the daemon is gone; waiting for the next one';
      if (!globals.json) stdout.write(feed.notice(text, new Date()));
    },
  );
  if (!globals.json) process.stderr.write(`Listening to ${printable(root)}; Ctrl-C ends it.\n`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await end();
  await client.close();
  return 0;
}

function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns > 0 ? columns : undefined;
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
