/**
 * Tries `smithyd setup` in the real agents that are on npm: each is installed into a cache in the folder for
 * temporary files, gets a project, the built daemon and its set-up, and then works by a scripted model. All of it
 * runs in a network namespace that has nothing but itself. Ends with 0 only if whatever was tried holds.
 * Usage: node scripts/build.mjs && node scripts/real-agents.mjs [--only codex,gemini] [--newest] [--keep]
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { AGENTS, UNTRIED } from '../test/support/real-agents/agents.mjs';
import { tryAgent } from '../test/support/real-agents/try-agent.mjs';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const CACHE = join(tmpdir(), 'smithyd-real-agents');
/** Its name says that the namespace is there: whatever comes after is a trial. */
const BEGUN = 'begun';
const INSTALL_MS = 600_000;
const TRY_MS = 400_000;
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    /** Installs again what is in the cache. */
    newest: { type: 'boolean', default: false },
    /** Leaves the projects, and what agents said to hooks, model and MCP, for a look. */
    keep: { type: 'boolean', default: false },
    /** For ourselves: we are in the namespace, and this is to be tried in that folder. */
    inside: { type: 'string' },
    folder: { type: 'string' },
  },
});

if (values.inside === undefined) tryAll();
else await tryInside(values.inside, values.folder);

function tryAll() {
  const only = values.only?.split(',');
  const isWanted = (name) => only === undefined || only.includes(name);
  const rows = AGENTS.filter(({ name }) => isWanted(name)).map((agent) => tryOne(agent));
  for (const [title, reason] of Object.entries(UNTRIED)) {
    if (isWanted(title.split(' ')[0])) rows.push({ title, outcome: `not tried: ${reason}` });
  }
  print(rows);
  if (rows.some(({ isTried, isGood }) => isTried === true && !isGood)) process.exitCode = 1;
}

function tryOne(agent) {
  const { title } = agent;
  const installed = install(agent);
  if (installed.reason !== undefined) return { title, outcome: `not tried: ${installed.reason}` };
  const { version } = installed;
  const folder = mkdtempSync(join(tmpdir(), `smithyd-real-${agent.name}-`));
  const alone = inNamespace(
    [process.execPath, fileURLToPath(import.meta.url)],
    [...['--inside', title, '--folder', folder]],
  );
  const result = join(folder, 'result.json');
  if (existsSync(join(folder, BEGUN)) && !existsSync(result)) {
    return {
      title,
      version,
      isTried: true,
      isGood: false,
      outcome: `FAILED: ${alone}; see ${folder}`,
    };
  }
  if (!existsSync(result)) {
    return { title, version, outcome: `not tried: ${alone}; see ${folder}` };
  }
  const { checks, error } = JSON.parse(readFileSync(result, 'utf8'));
  const failed =
    error === undefined ? checks.filter(({ ok }) => !ok) : [{ what: error, found: '' }];
  const isGood = failed.length === 0;
  if (isGood && !values.keep) rmSync(folder, { recursive: true, force: true });
  const outcome = isGood
    ? `seen: ${checks.map(({ what }) => what).join(', ')}${without(agent)}`
    : `FAILED: ${failed.map(({ what, found }) => `${what} (${found})`).join(', ')}; see ${folder}`;
  return { title, version, isTried: true, isGood, outcome };
}

function without({ withoutMcp }) {
  return withoutMcp === undefined ? '' : `; no MCP: ${withoutMcp}`;
}

/** Without the scripts of packages: what an agent needs is in a package for its platform. */
function install({ npm, program }) {
  const folder = join(CACHE, npm.replaceAll(/[^a-z-]/gu, '_'));
  const modules = join(folder, 'node_modules');
  const manifest = join(modules, npm, 'package.json');
  if (values.newest || !existsSync(manifest)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
    const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${npm}@latest`];
    const done = spawnSync('npm', words, { cwd: folder, encoding: 'utf8', timeout: INSTALL_MS });
    if (done.status !== 0) return { reason: `npm could not install ${npm}: ${lastLine(done)}` };
  }
  const missing = program.filter((part) => !isAbsolute(part) && !existsSync(join(modules, part)));
  if (missing.length > 0) return { reason: `its package has no ${missing[0]}` };
  return { modules, version: JSON.parse(readFileSync(manifest, 'utf8')).version };
}

/**
 * Nothing outside can be reached, the model is on the loopback of the namespace, and whatever an agent
 * leaves running ends with it. Answers why nothing came of it, if so.
 */
function inNamespace(program, words) {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  const apart = [...asRoot, '--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  const begin = ['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
  const done = spawnSync('unshare', [...apart, ...begin, ...program, ...words], {
    encoding: 'utf8',
    timeout: TRY_MS,
    killSignal: 'SIGKILL',
  });
  if (done.error !== undefined) return `unshare: ${done.error.message}`;
  return `no network namespace, or no result (exit ${done.status}: ${lastLine(done)})`;
}

async function tryInside(title, folder) {
  const outside = Object.keys(networkInterfaces()).filter((name) => name !== 'lo');
  if (outside.length > 0) throw new Error(`there is a network: ${outside.join(', ')}`);
  writeFileSync(join(folder, BEGUN), '');
  const agent = AGENTS.find((each) => each.title === title);
  const told = await tryAgent(agent, { modules: install(agent).modules, folder, cli: CLI }).then(
    (checks) => ({ checks }),
    (error) => ({ error: error.stack }),
  );
  writeFileSync(join(folder, 'result.json'), JSON.stringify(told));
  process.exit(0);
}

function lastLine({ stderr = '', stdout = '' }) {
  return `${stdout}\n${stderr}`.trim().split('\n').at(-1);
}

function print(rows) {
  const width = (pick) => Math.max(...rows.map((row) => pick(row).length));
  const titles = width(({ title }) => title);
  const versions = width(({ version = '-' }) => version);
  for (const { title, version = '-', outcome } of rows) {
    console.log(`${title.padEnd(titles)}  ${version.padEnd(versions)}  ${outcome}`);
  }
}
