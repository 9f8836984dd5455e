/** Which faults can be made on this machine: each answers why not, or undefined. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { whyNoPowerCut } from '../support/power-cut.mjs';
import { canTrace } from '../support/strace.mjs';

export const ran = (program, ...args) => spawnSync(program, args, { stdio: 'ignore' }).status === 0;

function once(look) {
  let found;
  return () => (found ??= { why: look() }).why;
}

const unless = (works, why) => once(() => (works() ? undefined : why));

export const strace = unless(canTrace, 'strace cannot look into the daemon');
export const root = unless(() => process.getuid?.() === 0, 'it needs root');
export const setpriv = unless(
  () =>
    ran('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, '-e', '0'),
  'setpriv cannot become nobody',
);
export const tmpfs = unless(canMount, 'nothing can be mounted');
export const powerCut = once(whyNoPowerCut);
export const faketime = unless(() => ran('faketime', '-f', '+1d', 'true'), 'faketime is missing');
export const bindfs = unless(
  () => existsSync('/dev/fuse') && ran('bindfs', '--version'),
  'bindfs or /dev/fuse is missing',
);
export const prlimit = unless(() => ran('prlimit', '--version'), 'prlimit is missing');
export const chattr = unless(canChattr, 'no file can be made immutable');
export const userNamespaces = unless(
  () => ran('unshare', '-U', '-r', 'sh', '-c', 'echo 5 > /proc/sys/user/max_inotify_watches'),
  'there are no user namespaces',
);
export const cgroups = unless(canLimit, 'no control group can be made');
export const all =
  (...needs) =>
  () =>
    needs.map((need) => need()).find((why) => why !== undefined);

function scratch(use) {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-means-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function canMount() {
  return scratch((folder) => ran('mount', '-t', 'tmpfs', 'none', folder) && ran('umount', folder));
}

function canChattr() {
  return scratch((folder) => ran('chattr', '+i', folder) && ran('chattr', '-i', folder));
}

/** Where a group of the memory and pids controllers can be made: version 1 or 2. */
export function newGroup(controller) {
  const base = existsSync(`/sys/fs/cgroup/${controller}`)
    ? `/sys/fs/cgroup/${controller}`
    : '/sys/fs/cgroup';
  return join(base, `smithyd-fault-${process.pid}-${Date.now()}`);
}

function canLimit() {
  const group = newGroup('memory');
  const is = ran('mkdir', group) && existsSync(join(group, 'cgroup.procs'));
  ran('rmdir', group);
  return is;
}
