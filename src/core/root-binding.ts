import { SmithyError } from './errors.js';

export interface BindingQuestion {
  readonly root: string;
  readonly state: string;
  /** The root this state was made for; undefined when nobody said so yet. */
  readonly bound: string | undefined;
  /** Whether a project is still at that root. */
  readonly isOriginalThere: boolean;
  /** Somebody asked for this root by name. */
  readonly rebind: boolean;
}

/**
 * Whether a state folder may serve this root. Checkpoints hold the files of one folder: those of
 * another one must not be written into this one because somebody copied or moved a folder.
 */
export function judgeBinding(question: BindingQuestion): 'kept' | 'bind' {
  const { root, state, bound, isOriginalThere, rebind } = question;
  if (bound === root) return 'kept';
  if (bound === undefined || rebind) return 'bind';
  const hint = isOriginalThere
    ? `It is a copy. \`smithyd start --rebind\` makes it a project of its own with this history; ` +
      `remove ${state} to begin without one.`
    : 'If the project was moved here: `smithyd start --rebind` takes its history over.';
  throw new SmithyError('FORBIDDEN', `${state} belongs to ${bound}, not to ${root}.`, {
    hint,
    data: { root, bound_to: bound, is_copy: isOriginalThere },
  });
}
