/** Compiles src/ into an empty dist/, then derives what the command line reads instead of the table. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
const tsc = spawnSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'],
  {
    stdio: 'inherit',
  },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
chmodSync('dist/cli/main.js', 0o755);

const { toCliManifest } = await import(new URL('../dist/api/manifest.js', import.meta.url).href);
const { METHODS } = await import(new URL('../dist/api/table.js', import.meta.url).href);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/cli/manifest.json', JSON.stringify(toCliManifest(METHODS, version)));
