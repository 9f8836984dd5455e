import type { CommitId, DialogId } from './model.js';

/** Why a commit was made; the `Kind` trailer of every checkpoint. */
export type CheckpointKind =
  | 'initial'
  | 'message'
  | 'manual'
  | 'pre_commit'
  | 'session_start'
  | 'restore'
  | 'rewind'
  | 'snapshot'
  | 'auto_save';

export interface SessionState {
  readonly name: string;
  readonly status: 'active' | 'merged' | 'abandoned';
  readonly createdAt: string;
  readonly closedAt: string | null;
  readonly approvedCommit: CommitId | null;
  readonly checkpoints: number;
}

/** Everything about one dialog that is not content. A fold over its ledger events. */
export interface DialogState {
  readonly id: DialogId;
  readonly title: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly initial: CommitId;
  /** Tip of `main`. */
  readonly approved: CommitId;
  /** Tip of the active session. */
  readonly tip: CommitId;
  readonly lastApprovedAt: string | null;
  readonly sessions: readonly SessionState[];
  readonly messages: number;
  readonly trail: Trail;
}

/** The states undo and redo walk over; `at` is the present one. */
export interface Trail {
  readonly points: readonly CommitId[];
  readonly at: number;
}

/** How a dialog begins: with a first checkpoint, or with what an older program left. */
export interface Beginning {
  readonly title: string;
  readonly initial: CommitId;
  readonly earlier?: {
    /** All that can be gone back to besides `initial`, oldest first. */
    readonly commits: readonly CommitId[];
    /** Where `main` was. */
    readonly main: CommitId;
    readonly createdAt?: string | undefined;
  };
}

/** What happened to a dialog, as its ledger lines tell it. */
export type DialogFact =
  | ({ readonly what: 'created' } & Beginning)
  | { readonly what: 'used' }
  | { readonly what: 'deleted' }
  | { readonly what: 'saved'; readonly commit: CommitId; readonly kind: CheckpointKind }
  | { readonly what: 'message'; readonly index: number }
  | { readonly what: 'approved'; readonly commit: CommitId; readonly session: string }
  | { readonly what: 'reset'; readonly tip: CommitId; readonly session: string }
  /** `tip` is the first checkpoint of a new session, and what is on disk. */
  | { readonly what: 'rewound'; readonly tip: CommitId; readonly session: string }
  /** The commit saved just before is a step back or forth, not a new one. */
  | { readonly what: 'moved'; readonly trail: Trail };

/** Beyond this undo does not reach; `restore` does. */
const LONGEST_TRAIL = 1_000;

export function createDialogState(
  id: DialogId,
  at: string,
  { title, initial, earlier }: Beginning,
): DialogState {
  const main = earlier?.main ?? initial;
  return {
    id,
    title,
    createdAt: earlier?.createdAt ?? at,
    updatedAt: at,
    initial,
    approved: main,
    tip: main,
    lastApprovedAt: null,
    sessions: [openSession(sessionName(1), at)],
    messages: 0,
    trail: { points: [main], at: 0 },
  };
}

/** The same reducer at run time and at start: what is remembered is what was written. */
export function applyFact(state: DialogState, at: string, fact: DialogFact): DialogState {
  const next = { ...state, updatedAt: at };
  switch (fact.what) {
    case 'created':
    case 'used':
    case 'deleted':
      return next;
    case 'message':
      return { ...next, messages: fact.index + 1 };
    case 'saved':
      return {
        ...next,
        tip: fact.commit,
        sessions: counted(state.sessions),
        trail: walked(state.trail, fact.commit),
      };
    case 'moved':
      return { ...next, trail: fact.trail };
    case 'approved':
      return {
        ...next,
        approved: fact.commit,
        tip: fact.commit,
        lastApprovedAt: at,
        sessions: succeeded(
          state.sessions,
          { name: fact.session, at },
          { status: 'merged', approvedCommit: fact.commit },
        ),
      };
    case 'reset':
    case 'rewound': {
      const left = { status: 'abandoned', approvedCommit: null } as const;
      const sessions = succeeded(state.sessions, { name: fact.session, at }, left);
      return {
        ...next,
        tip: fact.tip,
        sessions: fact.what === 'rewound' ? counted(sessions) : sessions,
        trail: walked(state.trail, fact.tip),
      };
    }
  }
}

export function activeSession(state: DialogState): SessionState {
  const active = state.sessions.find(({ status }) => status === 'active');
  if (active === undefined) throw new Error(`dialog ${state.id} has no active session`);
  return active;
}

export function nextSessionName(state: DialogState): string {
  return sessionName(state.sessions.length + 1);
}

/** A new state after the present one; what could have been redone is not ahead any more. */
export function walked(trail: Trail, commit: CommitId): Trail {
  const points = [...trail.points.slice(0, trail.at + 1), commit].slice(-LONGEST_TRAIL);
  return { points, at: points.length - 1 };
}

function openSession(name: string, at: string): SessionState {
  return {
    name,
    status: 'active',
    createdAt: at,
    closedAt: null,
    approvedCommit: null,
    checkpoints: 0,
  };
}

function sessionName(number: number): string {
  return `session_${number}`;
}

function counted(sessions: readonly SessionState[]): SessionState[] {
  return sessions.map((session) => {
    return session.status === 'active'
      ? { ...session, checkpoints: session.checkpoints + 1 }
      : session;
  });
}

/** The active session ends as told and the next one begins. */
function succeeded(
  sessions: readonly SessionState[],
  { name, at }: { readonly name: string; readonly at: string },
  end: Pick<SessionState, 'status' | 'approvedCommit'>,
): SessionState[] {
  const closed = sessions.map((session) => {
    return session.status === 'active' ? { ...session, ...end, closedAt: at } : session;
  });
  return [...closed, openSession(name, at)];
}
