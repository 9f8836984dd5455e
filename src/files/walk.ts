import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
} from 'node:fs';
import type { Pace } from './pace.js';
import type { Making } from './user-mask.js';
import { hasCode } from './reasons.js';

/** A folder reached without following a link, held as long as it may be used. */
export interface Folder {
  /** The path to give to one system call on the entry `name`. */
  at(name: string): string;
}

/** How a folder on the way is kept from turning into another one. */
export type Hold = 'descriptor' | 'check';

export interface Walk {
  /**
   * Goes down from the root, one folder at a time. `missing`: a folder is not there;
   * `blocked`: something else is. The same object as before means that the folder still is where
   * it was, all the way up: a held one is asked again after each breath, a checked one every time.
   */
  enter(parts: readonly string[], create?: 'create'): Folder | 'missing' | 'blocked';
  /** Whether a folder that was just entered is where it was, all the way up. Asked of the disk each time. */
  isInPlace(parts: readonly string[], folder: Folder): boolean;
  close(): void;
}

interface Held extends Folder {
  readonly name: string;
  readonly identity: string;
  readonly close: () => void;
  /** When it was last seen in its place. */
  turn: number;
}

export interface WalkDeps {
  readonly root: string;
  readonly hold: Hold;
  readonly pace: Pace;
  readonly making: Making;
}

const PROC = '/proc/self/fd';

/**
 * Linux opens a name relative to a held folder through `/proc/self/fd`, which a swap of that folder
 * for a link cannot redirect. Elsewhere Node has no such call: there every folder on the way is
 * looked at before and after the operation, which finds a swap but cannot exclude it.
 */
export function bestHold(): Hold {
  return process.platform === 'linux' && existsSync(PROC) ? 'descriptor' : 'check';
}

export function identify(root: string): string {
  return identityOf(statSync(root, { bigint: true }));
}

export function openWalk({
  root,
  hold,
  pace,
  making,
}: WalkDeps): Walk & { readonly identity: string } {
  const open = hold === 'descriptor' ? openByDescriptor : openByCheck;
  // The root may be named through a link: which folder it is, is checked by its identity.
  const top = open(root, '');
  // The way to the last folder: plans come in path order, so most of it is shared with the next.
  const way: Held[] = [];
  const shorten = (length: number) => {
    for (const folder of way.splice(length).reverse()) folder.close();
  };

  const isFresh = (folder: Held) => hold === 'descriptor' && folder.turn === pace.turn();

  /** One folder further. */
  function descend(from: { folder: Held; depth: number }, name: string, create: boolean) {
    const known = way[from.depth];
    if (known?.name === name && isFresh(known)) return known;
    const place = from.folder.at(name);
    if (known?.name === name && identityAt(place) === known.identity) {
      known.turn = pace.turn();
      return known;
    }
    shorten(from.depth);
    const first = openFolder(() => open(place, name));
    if (first !== 'missing' || !create) return taken(first);
    makeFolder(place, making);
    return taken(openFolder(() => open(place, name)));
  }

  function taken(opened: Held | 'missing' | 'blocked') {
    if (typeof opened === 'string') return opened;
    opened.turn = pace.turn();
    way.push(opened);
    return opened;
  }

  const enter: Walk['enter'] = (parts, create) => {
    let folder = top;
    for (const [depth, name] of parts.entries()) {
      const next = descend({ folder, depth }, name, create !== undefined);
      if (typeof next === 'string') return next;
      folder = next;
    }
    // What lies deeper may be removed from here; it is not asked for again before it is reopened.
    shorten(parts.length);
    return folder;
  };

  const isInPlace: Walk['isInPlace'] = (parts, folder) => {
    let above = top;
    for (const [depth, name] of parts.entries()) {
      const held = way[depth];
      if (held?.name !== name || identityAt(above.at(name)) !== held.identity) return false;
      above = held;
    }
    return above === folder;
  };

  return {
    identity: top.identity,
    ...{ enter, isInPlace },
    close: () => {
      shorten(0);
      top.close();
    },
  };
}

/** Undefined when it is no folder. */
function identityAt(place: string): string | undefined {
  const stat = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  return stat?.isDirectory() === true ? identityOf(stat) : undefined;
}

function makeFolder(place: string, making: Making): void {
  try {
    making(() => mkdirSync(place));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** The system itself opens nothing here but a folder, so no look has to come first. */
function openByDescriptor(place: string, name: string): Held {
  const noFollow = name === '' ? 0 : constants.O_NOFOLLOW;
  const fd = openSync(place, constants.O_RDONLY | constants.O_DIRECTORY | noFollow);
  const at = (entry: string) => `${PROC}/${fd}/${entry}`;
  const identity = identityOf(fstatSync(fd, { bigint: true }));
  return { name, at, identity, turn: 0, close: () => closeSync(fd) };
}

function openByCheck(place: string, name: string): Held {
  const stat = (name === '' ? statSync : lstatSync)(place, { bigint: true });
  if (!stat.isDirectory()) throw Object.assign(new Error(`${place} is no folder`), NO_FOLDER);
  const identity = identityOf(stat);
  return { name, at: (entry) => `${place}/${entry}`, identity, turn: 0, close: () => undefined };
}

const NO_FOLDER = { code: 'ENOTDIR' };

function openFolder(open: () => Held): Held | 'missing' | 'blocked' {
  try {
    return open();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'missing';
    if (hasCode(error, 'ELOOP', 'ENOTDIR')) return 'blocked';
    throw error;
  }
}

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
