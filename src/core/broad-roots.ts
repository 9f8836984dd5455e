import { SmithyError } from './errors.js';

/** What the decision needs to know about the machine and the folder. */
export interface RootFacts {
  /** Absolute and free of links. */
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
  /** Owner of the folder and user of this process; undefined where the system has none. */
  readonly owner?: number | undefined;
  readonly user?: number | undefined;
}

const SYSTEM_FOLDERS = [
  '/',
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/media',
  '/mnt',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/srv',
  '/sys',
  '/tmp',
  '/usr',
  '/usr/local',
  '/var',
  '/var/tmp',
  '/Applications',
  '/Library',
  '/System',
  '/Users',
  '/Volumes',
];

/** Daemons of other tools have filled disks by watching a home directory. We ask first. */
export function refuseBroadRoot(facts: RootFacts): void {
  const why = whyTooBroad(facts);
  if (why !== undefined) {
    throw new SmithyError('FORBIDDEN', `${facts.root} ${why}.`, {
      hint: 'Name the project with --root DIR, or pass --force if you really mean this folder.',
      data: { root: facts.root },
    });
  }
}

function whyTooBroad({ root, home, temporary, owner, user }: RootFacts): string | undefined {
  if (root === home) return 'is your home directory, not a project';
  if (home.startsWith(withSlash(root))) return 'contains your home directory';
  if (SYSTEM_FOLDERS.includes(root) || /^[A-Za-z]:[\\/]?$/u.test(root)) return 'is a system folder';
  if (root === temporary) return 'is the shared folder for temporary files';
  if (owner !== undefined && user !== undefined && owner !== user) {
    return `belongs to another user (${owner}; you are ${user})`;
  }
  return undefined;
}

function withSlash(folder: string): string {
  return folder.endsWith('/') ? folder : `${folder}/`;
}
