import { spawnSync } from 'node:child_process';
import { run, type Outcome, type RunOptions } from './processes.js';

export const hasPython = spawnSync('python3', ['--version'], { stdio: 'ignore' }).status === 0;

/**
 * Runs a command on a terminal of its own and types `keys` once the output holds `when`. What it
 * prints comes back on stdout; how it ended is the code, 128 and more for a signal.
 */
const ON_TERMINAL = `
import os, pty, select, sys
when, keys, words = sys.argv[1].encode(), sys.argv[2].encode().decode('unicode_escape').encode(), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(words[0], words)
seen, typed = b'', False
while True:
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        chunk = b''
    if not chunk:
        break
    seen += chunk
    if not typed and when in seen:
        os.write(terminal, keys)
        typed = True
os.write(1, seen)
status = os.waitpid(pid, 0)[1]
sys.exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
`;

export function onTerminal(
  command: readonly string[],
  { when, keys, ...options }: RunOptions & { readonly when: string; readonly keys: string },
): Promise<Outcome> {
  return run(['python3', '-c', ON_TERMINAL, when, keys, ...command], options);
}
