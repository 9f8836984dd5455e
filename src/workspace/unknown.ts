import { counted } from '../core/counted.js';
import { toResults } from '../core/file-results.js';
import { toSpan, type Unexplained } from '../core/known-state.js';
import type { Path } from '../core/model.js';
import { toPath } from '../core/paths.js';
import { planRestore } from '../core/restore-plan.js';
import { sameState } from '../core/watching.js';
import type { Voice } from './account-lines.js';
import { placeOf, unknownVoice } from './adoption.js';
import type { KnownAt } from './claims.js';
import { isTooLarge, steadily, type EditDeps } from './edit-deps.js';
import { strategyOf } from './edits.js';
import type { Strategy } from './edit-starts.js';
import { applyMove, type MoveDeps } from './tree-moves.js';
import { settled } from './settled.js';
import { toResult } from './unknown-result.js';

export interface HandleAnswer {
  success: boolean;
  message: string;
  compensatingSnapshotId?: string;
  modifiedFiles?: string[];
  saved?: { path: string; hash: string }[];
}

interface Detected {
  readonly found: readonly Unexplained[];
  readonly warnings: readonly string[];
}

/** Content that nobody announced: finding it, and deciding about it. */
export class Unknown {
  readonly #deps: EditDeps & MoveDeps;

  constructor(deps: EditDeps & MoveDeps) {
    this.#deps = deps;
  }

  async detect(files: readonly string[] | undefined) {
    const { found, warnings } = await this.#detect(this.#paths(files));
    const { contents, text } = this.#deps;
    return { ...(await toResult(found, contents, text)), warnings: [...warnings] };
  }

  async validate(files: readonly string[], { autoHandle, isStrict }: ValidateOptions) {
    const { contents, text, config } = this.#deps;
    const { found, warnings } = await this.#detect(this.#paths(files));
    const suggestions = suggestionsFor(found);
    if (found.length === 0) return { success: true, warnings: [...warnings], suggestions };
    const unknownChanges = await toResult(found, contents, text);
    const told = { unknownChanges, warnings: [...warnings], suggestions };
    const error = `${counted(found.length, 'file')} ${found.length === 1 ? 'holds' : 'hold'} content that nobody announced.`;
    if (isStrict) return { success: false, error, ...told };
    if (autoHandle) {
      const strategy = strategyOf(config().unknownChangeStrategy);
      const handled = await this.handle(files, strategy === 'warn' ? 'integrate' : strategy);
      return { ...told, success: handled.success, warnings: [...warnings, handled.message] };
    }
    if (strategyOf(config().unknownChangeStrategy) === 'reject') {
      return { success: false, error, ...told };
    }
    return { success: true, ...told, warnings: [...warnings, error] };
  }

  async handle(files: readonly string[] | undefined, strategy: Strategy): Promise<HandleAnswer> {
    const paths = this.#paths(files);
    const { found } = await this.#detect(paths);
    if (found.length === 0) return NO_UNKNOWN;
    const turn = async (): Promise<HandleAnswer> => {
      // Looked at again: others may have decided meanwhile.
      const now = this.#deps.claims.unknown(found.map(({ path }) => path));
      if (now.length === 0) return NO_UNKNOWN;
      if (strategy === 'warn') return this.#note(now);
      return strategy === 'integrate' ? this.#integrate(now) : this.#reject(now);
    };
    return steadily(this.#deps, turn, strategy === 'reject' ? 'run' : 'share');
  }

  /** Whatever is on disk counts as known from now on. */
  async reset() {
    return steadily(this.#deps, async () => {
      const found = this.#deps.claims.unexplained();
      const { modifiedFiles = [] } = await this.#integrate(found);
      return { files: modifiedFiles.length };
    });
  }

  /**
   * When events may have been missed, named files are read and hashed themselves, and of the rest
   * everything is compared: not knowing is never told as "no changes".
   */
  async #detect(paths: readonly Path[] | undefined): Promise<Detected> {
    const { watcher, claims, queue } = this.#deps;
    await queue.share(() => undefined);
    if (!this.#deps.config().enableUnknownChangeDetection) {
      const warning = 'Detection is off: enableUnknownChangeDetection is false.';
      return { found: [], warnings: [warning] };
    }
    const { fresh } = await watcher.settle();
    if (fresh) return { found: claims.unknown(paths), warnings: [] };
    const warnings = ['Events may have been missed; the files were read again and compared.'];
    if (paths === undefined) {
      await watcher.rescan();
      await settled(watcher);
      return { found: claims.unknown(), warnings };
    }
    const found: Unexplained[] = [];
    for (const path of paths) found.push(...(await this.#byContent(path)));
    return { found, warnings };
  }

  async #byContent(path: Path): Promise<Unexplained[]> {
    const { claims, files } = this.#deps;
    if (claims.isExcluded(path) || claims.table.claimant(path) !== undefined) return [];
    if (await isTooLarge(this.#deps, path)) return [];
    const file = await files.readFile(path);
    const actual = file === null ? null : { hash: file.hash, mode: file.mode };
    const expected = claims.known.expected(path);
    return sameState(expected, actual) ? [] : [{ path, expected, actual, origin: 'scan' }];
  }

  async #note(found: readonly Unexplained[]): Promise<HandleAnswer> {
    const files = found.map(({ path }) => path);
    const rationale = `Unknown changes in ${counted(files.length, 'file')}.`;
    const line = { ...this.#voice(), by: undefined, action_type: 'meta_note' as const };
    await this.#deps.editBook.append([{ ...line, files, rationale }]);
    return { success: true, message: `${rationale} They were noted and left as they are.` };
  }

  async #integrate(found: readonly Unexplained[]): Promise<HandleAnswer> {
    const { accounts, claims, editBook } = this.#deps;
    await accounts.keep(found.map(({ path, actual }) => [path, actual] as const));
    const lines = await accounts.tell(toResults(found.map(toSpan)), this.#voice());
    const entries = await editBook.append(lines);
    for (const { path, actual } of found) claims.explain(path, actual);
    const [first] = entries;
    return {
      success: true,
      message: `${found.length} ${found.length === 1 ? 'file is' : 'files are'} known now, written by somebody unknown.`,
      ...(first === undefined ? {} : { compensatingSnapshotId: first.id }),
      modifiedFiles: found.map(({ path }) => path),
    };
  }

  /** The known content back in its place; what was there is in the store first. */
  async #reject(found: readonly Unexplained[]): Promise<HandleAnswer> {
    const { accounts, store, editBook } = this.#deps;
    const wanted = found.flatMap(({ expected }) => (expected === null ? [] : [expected.hash]));
    const has = await store.has(wanted);
    const able = found.filter(({ expected }) => expected === null || has.has(expected.hash));
    await accounts.keep(able.map(({ path, actual }) => [path, actual] as const));
    const differences = able.map(({ path, expected, actual }) => {
      return { path, from: actual, to: expected };
    });
    const steps = planRestore({ differences }).steps.filter(({ kind }) => kind !== 'remove_folder');
    const moved = await applyMove(this.#deps, { steps, spared: [] });
    const modifiedFiles = [...moved.restored, ...moved.deleted];
    const back = new Set<string>(modifiedFiles);
    const saved = able.flatMap(({ path, actual }) => {
      return actual === null || !back.has(path) ? [] : [{ path, hash: actual.hash }];
    });
    const rationale = `Unknown changes in ${counted(back.size, 'file')} were rejected.`;
    const line = { ...this.#voice(), by: undefined, action_type: 'meta_note' as const };
    const known = able.map(({ path, expected }): KnownAt => [path, expected]);
    await editBook.append([{ ...line, files: modifiedFiles, rationale, saved, known }]);
    const left = found.length - back.size;
    const rest = left === 0 ? '' : ` ${left} could not be put back and stay as they are.`;
    return { success: left === 0, message: `${rationale}${rest}`, modifiedFiles, saved };
  }

  #voice(): Voice {
    const { clock, book } = this.#deps;
    const dialog = book.find(undefined);
    return unknownVoice(dialog === undefined ? NOWHERE : placeOf(dialog), clock);
  }

  #paths(files: readonly string[] | undefined): Path[] | undefined {
    return files?.map((path) => toPath(path, this.#deps.root));
  }
}

export interface ValidateOptions {
  readonly autoHandle: boolean;
  readonly isStrict: boolean;
}

const NO_UNKNOWN: HandleAnswer = { success: true, message: 'There are no unknown changes.' };
const NOWHERE = { dialog_id: null, session: null };

function suggestionsFor(found: readonly Unexplained[]): string[] {
  if (found.length === 0) return [];
  return [
    'Look at the changes: smithyd unknown',
    'Take them in as they are: smithyd unknown --integrate',
    'Put the known content back (the present one is saved first): smithyd unknown --reject',
    'Leave files out of the check with the setting excludeFromChecking.',
  ];
}
