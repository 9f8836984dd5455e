/**
 * What the git hooks run: `git-hook.js ROOT HOOK [ARGUMENT]..`. An entry of its own, because a commit
 * waits for it: it reads no manifest, and asks nothing before it says what it has to say. Silent,
 * always successful, and never the reason for a daemon to start.
 */
import { tryReach } from '../client/reach.js';

/** From the start of the process. The hook ends us at 280 ms, and a commit may wait for 300. */
const DEADLINE_MS = 260;

const [root = '', hook = '', ...words] = process.argv.slice(2);

function message(): readonly [method: string, params: object] {
  switch (hook) {
    case 'pre-commit':
      // With a message it is a commit of its own even if nothing has changed since the last one.
      return ['create_checkpoint', { kind: 'pre_commit', message: 'Before commit' }];
    case 'post-checkout':
      return ['git_operation', { what: 'checkout', from: words[0], to: words[1] }];
    case 'post-merge':
      return ['git_operation', { what: 'merge' }];
    default:
      return ['git_operation', { what: words[0] === 'amend' ? 'amend' : 'rebase' }];
  }
}

setTimeout(() => process.exit(0), Math.max(0, DEADLINE_MS - performance.now()));
try {
  const reached = await tryReach({ root });
  await reached?.wire.call(...message(), DEADLINE_MS);
} catch {
  // Nobody listens, or not as we do: then nobody is told.
}
process.exit(0);
