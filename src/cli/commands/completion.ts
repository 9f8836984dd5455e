import { AGENTS } from '../../core/agents.js';
import { SmithyError } from '../../core/errors.js';
import type { GlobalFlags } from '../args.js';
import { completionsFor, SHELLS } from '../completions.js';
import { allTopics, type Catalogue } from '../help.js';
import { SETUPS } from '../setups.js';

/** For `eval "$(smithyd completion bash)"`, or a file that the shell reads. */
export function completion(
  _: GlobalFlags,
  words: readonly string[],
  catalogue: Catalogue,
): Promise<number> {
  const shell = SHELLS.find((one) => one === words[0]);
  if (shell === undefined || words.length > 1) {
    throw new SmithyError('INVALID_PARAMS', 'completion needs the name of one shell.', {
      hint: 'For example: eval "$(smithyd completion bash)"; also zsh and fish.',
    });
  }
  const names = {
    completion: SHELLS,
    setup: Object.keys(SETUPS),
    'agent-hook': Object.keys(AGENTS),
  };
  process.stdout.write(completionsFor(shell, allTopics(catalogue), names));
  return Promise.resolve(0);
}
