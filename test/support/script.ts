import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run, type RunOptions } from './processes.js';
import { REPOSITORY } from './daemon-project.js';

const LIBRARY = pathToFileURL(join(REPOSITORY, 'dist/index.js')).href;

/**
 * Runs a small program against the built library, as a user of the package would write it, in a
 * process of its own that must end by itself. `root` and the library's names are in scope, and
 * what `body` returns is the answer.
 */
export async function script<T>(root: string, body: string, options: RunOptions = {}): Promise<T> {
  const source = `
    import { connect, startDaemon, SmithyError } from ${JSON.stringify(LIBRARY)};
    import { setTimeout as pause } from 'node:timers/promises';
    const root = process.argv[1];
    const outcome = (promise) => promise.then(
      (value) => ({ value }),
      (error) => ({ code: error.code, isSmithyError: error instanceof SmithyError, hint: error.hint }),
    );
    const until = async (look) => { while (!(await look())) await pause(10); };
    const main = async () => {${body}};
    process.stdout.write(JSON.stringify((await main()) ?? null));
  `;
  const words = [process.execPath, '--input-type=module', '-e', source, root];
  const { code, stdout, stderr } = await run(words, options);
  if (code !== 0) throw new Error(`the program ended with ${code ?? 'a signal'}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
