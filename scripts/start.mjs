/**
 * One command from a fresh clone to a running daemon: installs, builds, starts, shows the status.
 *   npm start -- /path/to/project        (default: this folder)
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
// npm changes into the package's folder; the caller's own one is where a relative path starts.
const project = resolve(process.env.INIT_CWD ?? process.cwd(), process.argv[2] ?? '.');

function run(program, args, cwd = here) {
  const { status } = spawnSync(program, args, {
    cwd,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(`${here}/node_modules/zod`)) run('npm', ['ci']);
run('npm', ['run', '--silent', 'build']);
const smithyd = `${here}/dist/cli/main.js`;
run(process.execPath, [smithyd, '--root', project, 'start']);
run(process.execPath, [smithyd, '--root', project, 'status']);
console.log(`\nThe command is ${smithyd}; try it with --help.`);
