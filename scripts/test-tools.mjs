/**
 * What tests need beyond Node and git: a Chromium. Installed where that is nobody's loss (Debian, as
 * root, which is a container or a machine for this), else the tests that will be skipped are named.
 * It never fails: a suite without a browser is a suite.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const BROWSERS = [
  'chromium-headless-shell',
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'chrome',
];
const PACKAGE = 'chromium-headless-shell';
const SKIPPED = ['test/e2e/browser.test.ts (most of it)', 'test/telemetry/collector.test.ts'];
/** Lists and a package of 50 MB; whoever has a slower line goes without. */
const LISTS_S = 60;
const INSTALL_S = 180;

function isOnPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** Asked to end first when it is late: it puts its own things in order then. */
function apt(args, seconds) {
  const limits = ['--kill-after=20', String(seconds)];
  const { status } = spawnSync('timeout', [...limits, 'apt-get', '-qq', ...args], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return status === 0;
}

function install() {
  const isOurs = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isOurs || !isOnPath('apt-get')) return;
  console.log(`Installing ${PACKAGE} for the tests ...`);
  const flags = ['install', '--yes', '--no-install-recommends', PACKAGE];
  if (!apt(flags, INSTALL_S) && apt(['update'], LISTS_S)) apt(flags, INSTALL_S);
}

const hasBrowser = () => BROWSERS.some(isOnPath);

if (!hasBrowser()) install();
if (!hasBrowser()) {
  console.log('There is no Chromium on PATH. These tests are skipped:');
  for (const name of SKIPPED) console.log(`  ${name}`);
}
