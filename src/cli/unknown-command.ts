import type { CliManifest } from '../core/cli-manifest.js';
import { SmithyError } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { GLOBAL_NAMES } from './args.js';
import { LOCAL_COMMANDS } from './local.js';

const SEE_HELP = 'See `smithyd --help`.';

/** What a line is told that begins with no command: what was meant, or what there is. */
export function unknownCommand(words: readonly string[], manifest: CliManifest): SmithyError {
  const [first = '', second] = words;
  if (first.startsWith('-')) {
    const near = didYouMean(nearest(first, GLOBAL_NAMES));
    return wrong(`smithyd does not know ${first}`, near ?? SEE_HELP);
  }
  const all = [...LOCAL_COMMANDS, ...manifest.commands].map(({ command }) => command);
  const group = all.filter((command) => command.startsWith(`${first} `)).sort();
  if (group.length === 0) {
    const near = didYouMean(nearest(first, all));
    return wrong(`There is no command "${first}"`, near ?? SEE_HELP);
  }
  const rest = group.map((command) => command.slice(first.length + 1));
  const needed = `${first} needs one of: ${rest.join(', ')}.`;
  if (second === undefined || second.startsWith('-')) return wrong(needed.slice(0, -1), undefined);
  const meant = nearest(second, rest).map((word) => `${first} ${word}`);
  return wrong(`There is no command "${first} ${second}"`, didYouMean(meant) ?? needed);
}

function wrong(message: string, hint: string | undefined): SmithyError {
  return new SmithyError('INVALID_PARAMS', `${message}.`, hint === undefined ? {} : { hint });
}
