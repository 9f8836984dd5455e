import type { DialogId, EditId, Path } from './model.js';
import type { FileState } from './watching.js';

/** What an edit is, from its start to its end and across restarts. */
export interface EditFacts {
  readonly id: EditId;
  /** `project`: whatever changes meanwhile, unless another edit holds it. */
  readonly scope: 'files' | 'project';
  readonly agent: { readonly name: string; readonly version: string | null } | null;
  readonly tool: string | null;
  readonly rationale: string | null;
  readonly runId: string | null;
  readonly dialog: DialogId;
  /** Wall time, for people. */
  readonly since: string;
  /** Tied to its time instead of to a connection. */
  readonly detached: boolean;
  readonly ttlMs: number | null;
  /** The caller's own name for the call, so that a repeated one opens no second edit. */
  readonly requestId: string | null;
}

/** One path while one edit had it: what it was, and what it was when that ended. */
export interface Span {
  readonly path: Path;
  readonly before: FileState | null;
  readonly after: FileState | null;
}

export class OpenEdit {
  readonly facts: EditFacts;
  /** What each path was when this edit got it. */
  readonly before = new Map<Path, FileState | null>();
  /** Paths that went on to another edit, and the ledger lines that say so. */
  readonly passedOn: { readonly span: Span; readonly event: string }[] = [];

  constructor(facts: EditFacts, before: ReadonlyMap<Path, FileState | null> = new Map()) {
    this.facts = facts;
    for (const [path, state] of before) this.before.set(path, state);
  }

  spans(now: (path: Path) => FileState | null): Span[] {
    return [...this.before].map(([path, before]) => ({ path, before, after: now(path) }));
  }
}

/** Who has which path. One path is never in two hands. */
export class EditTable {
  readonly #open = new Map<EditId, OpenEdit>();
  readonly #held = new Map<Path, OpenEdit>();
  /** Newest first. */
  #projects: OpenEdit[] = [];

  get size(): number {
    return this.#open.size;
  }

  list(): OpenEdit[] {
    return [...this.#open.values()];
  }

  get(id: EditId): OpenEdit | undefined {
    return this.#open.get(id);
  }

  /** The edit that holds one of these by name. */
  holder(paths: Iterable<Path>): OpenEdit | undefined {
    for (const path of paths) {
      const edit = this.#held.get(path);
      if (edit !== undefined) return edit;
    }
    return undefined;
  }

  /** The edit to which a change of this path belongs. */
  owner(path: Path): OpenEdit | undefined {
    const held = this.#held.get(path);
    if (held !== undefined) return held;
    // Whoever began with a path keeps it; something new is most likely the work of the newest.
    return this.#projects.find(({ before }) => before.has(path)) ?? this.#projects[0];
  }

  /** The edit that has already touched or holds this path. */
  claimant(path: Path): OpenEdit | undefined {
    const owner = this.owner(path);
    return owner?.before.has(path) === true ? owner : undefined;
  }

  /** Notes that a path changed in the hands of its owner; false when it has none. */
  touch(path: Path, before: FileState | null): boolean {
    const owner = this.owner(path);
    if (owner === undefined) return false;
    if (!owner.before.has(path)) owner.before.set(path, before);
    return true;
  }

  /** Back to where nobody has anything. */
  clear(): void {
    this.#open.clear();
    this.#held.clear();
    this.#projects = [];
  }

  /** Opens an edit. Paths that a project edit had changed pass to it: those are answered. */
  open(edit: OpenEdit): { readonly from: OpenEdit; readonly span: Span }[] {
    const passed: { from: OpenEdit; span: Span }[] = [];
    for (const [path, state] of edit.before) {
      const from = this.claimant(path);
      const before = from?.before.get(path);
      if (from !== undefined && before !== undefined) {
        passed.push({ from, span: { path, before, after: state } });
        from.before.delete(path);
      }
    }
    this.#open.set(edit.facts.id, edit);
    if (edit.facts.scope === 'project') this.#projects.unshift(edit);
    else for (const path of edit.before.keys()) this.#held.set(path, edit);
    return passed;
  }

  /** Takes back what `open` did. */
  undoOpen(edit: OpenEdit, passed: ReturnType<EditTable['open']>): void {
    this.close(edit);
    for (const { from, span } of passed) {
      if (this.#open.has(from.facts.id)) from.before.set(span.path, span.before);
    }
  }

  close(edit: OpenEdit): void {
    this.#open.delete(edit.facts.id);
    this.#projects = this.#projects.filter((project) => project !== edit);
    for (const path of edit.before.keys())
      if (this.#held.get(path) === edit) this.#held.delete(path);
  }
}

/** Who an edit's changes are by, in the words of `blame` and `get_changes_since`. */
export function byOf({ scope, agent, tool, dialog }: EditFacts): string {
  const byAgent = agent === null ? undefined : `agent:${agent.name}`;
  const byTool = tool === null ? undefined : `command:${tool}`;
  // A shell command may be an agent's, but what it does nobody has typed.
  if (scope === 'project') return byTool ?? byAgent ?? 'command:shell';
  return byAgent ?? byTool ?? `dialog:${dialog}`;
}

/** The `author` of an edit's ledger lines. */
export function authorOf(facts: EditFacts): { name: string; version: string | null; kind: string } {
  const [kind = 'dialog', ...name] = byOf(facts).split(':');
  const version = kind === 'agent' ? (facts.agent?.version ?? null) : null;
  return { name: name.join(':'), version, kind };
}
