/**
 * Bundles src/ into an empty dist/: Node spends more time on opening 364 modules than on running them.
 * Then derives what the command line reads instead of the table.
 *   node scripts/build.mjs [--types]      with the declarations that a published package has
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

/** What is started or imported by its path; everything else is in chunks of these. */
const STARTED = ['cli/main', 'cli/git-hook', 'index'];
const THREADS = [
  'watch/content/hash-worker',
  'semantics/worker',
  'git/deflate-worker',
  'files/write-worker',
];
/** Parts that benchmarks, scripts and tests take by themselves. */
const PARTS = [
  ...['api/manifest', 'api/reference', 'api/surface', 'api/table'],
  ...['core/restore-plan', 'core/tracking', 'files/tree-writer', 'git/store'],
  ...['ledger/ledger', 'ledger/line', 'semantics/semantics', 'workspace/tidying'],
  ...['core/rules', 'watch/rules/rule-set', 'watch/watcher'],
];

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: [...STARTED, ...THREADS, ...PARTS].map((name) => `src/${name}.ts`),
  ...{ outdir: 'dist', outbase: 'src', chunkNames: 'chunks/[name]-[hash]' },
  ...{ bundle: true, splitting: true, packages: 'external' },
  ...{ platform: 'node', target: 'node20', format: 'esm', logLevel: 'warning' },
});
chmodSync('dist/cli/main.js', 0o755);

const { toCliManifest } = await import(new URL('../dist/api/manifest.js', import.meta.url).href);
const { METHODS } = await import(new URL('../dist/api/table.js', import.meta.url).href);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
writeFileSync('dist/cli/manifest.json', JSON.stringify(toCliManifest(METHODS, version)));

if (process.argv.includes('--types')) {
  const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, tsc, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
