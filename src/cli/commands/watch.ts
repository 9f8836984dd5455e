import { processEnvironment, wantsColour } from '../../config.js';
import type { StreamedEvent } from '../../core/events.js';
import { findRoot } from '../../host/find-root.js';
import { createClient } from '../../client/client.js';
import type { GlobalFlags } from '../args.js';
import { Feed } from '../feed.js';
import type { Around } from '../local-run.js';
import { printable, printableJson } from '../text.js';

/** The live feed. It outlives restarts of the daemon; Ctrl-C ends it. */
export async function watch(
  globals: GlobalFlags,
  words: readonly string[],
  { read }: Around,
): Promise<number> {
  const { type: types } = read(words) as { type?: StreamedEvent['type'][] };
  const root = findRoot(globals.root, process.cwd());
  const { stdout } = process;
  // Asked anew for each line: windows change their size. A pipe has no width.
  const look = () => ({ root, colour: wantsColour(stdout), width: columnsOf(stdout) });
  const feed = new Feed(look);
  const client = await createClient({ root, startFrom: processEnvironment, force: globals.force });
  try {
    feed.knows((await client.list_edits({})).edits);
    const filter = {
      ...(types === undefined ? {} : { types }),
      ...(globals.dialog === undefined ? {} : { dialog_id: globals.dialog }),
    };
    await client.subscribe(
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
    return 0;
  } finally {
    await client.close();
  }
}

function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns > 0 ? columns : undefined;
}
