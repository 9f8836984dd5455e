import type { BigIntStats } from 'node:fs';
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  linkSync,
  openSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import type { FileStep } from '../core/restore-plan.js';
import { judge, safeParts } from '../core/restore-verdict.js';
import type { Verdict } from '../core/restore-verdict.js';
import type { Content, SkipReason } from '../core/tree-writer.js';
import { discard, withExecutable, writeFresh } from './fresh.js';
import type { FreshDeps } from './fresh.js';
import type { LastHold } from './last-hold.js';
import { isSame } from './look.js';
import type { Sight } from './look.js';
import { hasCode } from './reasons.js';
import type { Folder, Walk } from './walk.js';

export type StepResult = 'restored' | 'deleted' | 'unchanged' | { readonly reason: SkipReason };

export interface StepDeps extends FreshDeps {
  readonly walk: Walk;
  readonly lastHold: LastHold;
}

/** A step with its place: the folder is held, the name is the last part of the path. */
interface Site<S extends FileStep = FileStep> {
  readonly step: S;
  readonly folder: Folder;
  readonly parts: readonly string[];
  readonly name: string;
}

type WriteStep = Extract<FileStep, { readonly expect: unknown; readonly mode: unknown }>;

/** A file system without hard links says one of these. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'];

export async function applyFileStep(
  deps: StepDeps,
  step: FileStep,
  content: () => Promise<Content>,
): Promise<StepResult> {
  const all = safeParts(step.path);
  const name = all?.at(-1);
  if (all === undefined || name === undefined) return { reason: 'protected' };
  const parts = all.slice(0, -1);
  const folder = deps.walk.enter(parts, step.kind === 'write' ? 'create' : undefined);
  if (folder === 'missing' || folder === 'blocked') return withoutFolder(step);
  const place = { folder, parts, name };
  const isFirst = step.kind === 'write';
  const seen = await deps.eye.look(folder.at(name), { ...deps.lastHold, isFirst });
  const verdict = judge(step, seen);
  if (verdict !== 'go') return toResult(verdict);
  if (step.kind === 'chmod' && !hasOtherNames(seen)) {
    return changeMode(deps, { ...place, step }, seen);
  }
  refuseReadOnly(folder.at(name), seen);
  if (step.kind === 'delete') return remove(deps, { ...place, step });
  return write(deps, { ...place, step }, { seen, content: await content() });
}

/** Nothing can be at a path whose folder is not one: a delete is done, a write is not possible. */
function withoutFolder(step: FileStep): StepResult {
  return step.kind === 'delete' ? 'unchanged' : occupied(step);
}

function occupied({ expect }: FileStep): StepResult {
  return { reason: expect === null ? 'in_the_way' : 'changed_meanwhile' };
}

function toResult(verdict: Exclude<Verdict, 'go'>): StepResult {
  return verdict === 'unchanged' ? verdict : { reason: verdict };
}

/** They may lie anywhere, outside of the project too, and would change with this one. */
function hasOtherNames({ stat }: Sight): boolean {
  return stat !== undefined && stat.nlink > 1n;
}

/** A rename needs no right to write the old file. Whoever made it read-only meant it, though. */
function refuseReadOnly(place: string, { stat }: Sight): void {
  if (stat?.isFile() === true && !isOwnAndWritable(stat)) accessSync(place, constants.W_OK);
}

/** Nothing else has a say about the owner's right; a file system mounted read-only takes no new file. */
function isOwnAndWritable({ uid, mode }: BigIntStats): boolean {
  return Number(uid) === process.geteuid?.() && (mode & 0o200n) !== 0n;
}

async function write(
  deps: StepDeps,
  site: Site<WriteStep>,
  { seen, content }: { readonly seen: Sight; readonly content: Content },
): Promise<StepResult> {
  const { step, folder } = site;
  const input = { folder, entry: step, content, like: seen.stat };
  const fresh = folder.at(await writeFresh(deps, input));
  let isLeft = true;
  try {
    const again = await deps.eye.lookAgain(folder.at(site.name), seen);
    const verdict = judge(step, again);
    if (verdict !== 'go') return toResult(verdict);
    if (!isInPlace(deps.walk, site)) return { reason: 'changed_meanwhile' };
    if (again.kind === 'nothing') {
      if (!putInto(fresh, folder.at(site.name), step)) return occupied(step);
    } else {
      renameSync(fresh, folder.at(site.name));
      isLeft = false;
    }
  } finally {
    if (isLeft) discard(fresh);
  }
  return confirmed(deps.walk, site, 'restored');
}

/**
 * A name that must be free is taken by a call that, unlike a rename, never replaces: false when
 * somebody else took it first.
 */
function putInto(fresh: string, place: string, { mode }: WriteStep): boolean {
  try {
    // A hard link to a link is a copy of it on Linux, but one to its target on macOS.
    if (mode === '120000') symlinkSync(readlinkSync(fresh, { encoding: 'buffer' }), place);
    else linkSync(fresh, place);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!hasCode(error, ...NO_LINKS)) throw error;
    renameSync(fresh, place);
    return true;
  }
}

function changeMode(deps: StepDeps, site: Site<WriteStep>, seen: Sight): StepResult {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = openSync(site.folder.at(site.name), flags);
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (seen.stat === undefined || !isSame(stat, seen.stat) || !isInPlace(deps.walk, site)) {
      return { reason: 'changed_meanwhile' };
    }
    fchmodSync(fd, withExecutable(Number(stat.mode & 0o7777n), site.step.mode === '100755'));
  } finally {
    closeSync(fd);
  }
  return confirmed(deps.walk, site, 'restored');
}

function remove(deps: StepDeps, site: Site): StepResult {
  if (!isInPlace(deps.walk, site)) return { reason: 'changed_meanwhile' };
  unlinkSync(site.folder.at(site.name));
  return confirmed(deps.walk, site, 'deleted');
}

function isInPlace(walk: Walk, { parts, folder }: Site): boolean {
  return walk.isInPlace(parts, folder);
}

/** The folder was moved while we worked in it: the change is where it went, not at the path. */
function confirmed(walk: Walk, site: Site, result: StepResult): StepResult {
  return isInPlace(walk, site) ? result : { reason: 'changed_meanwhile' };
}
