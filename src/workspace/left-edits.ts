import type { OpenEdit } from '../core/edits.js';
import { EditEnds } from './edit-ends.js';
import type { Edits } from './edits.js';

type Deps = ConstructorParameters<typeof EditEnds>[0] & {
  readonly edits: Pick<Edits, 'leaveUnasked'>;
};

const DAEMON_ENDED = 'the daemon ended';

/** Closes the edits of a daemon that is gone. */
export function createLeaving({ edits, ...deps }: Deps) {
  const { queue, log } = deps;

  /**
   * Before anybody is answered, so that nobody meets an edit of a daemon that is gone. Answers the
   * ones whose files cannot be known now.
   */
  async function now(left: readonly OpenEdit[]): Promise<OpenEdit[]> {
    const ownTurn = { ...queue, share: async <T>(turn: () => T | Promise<T>) => turn() };
    const ends = new EditEnds({ ...deps, queue: ownTurn });
    const stay: OpenEdit[] = [];
    for (const edit of left) {
      await ends.leave(edit, DAEMON_ENDED).catch((error: unknown) => {
        log.write('warn', 'an edit is closed later', { edit: edit.facts.id, error: String(error) });
        stay.push(edit);
      });
    }
    return stay;
  }

  /** In turns of their own, after the one that opened everything. */
  function later(left: readonly OpenEdit[]): void {
    for (const { facts } of left) edits.leaveUnasked(facts.id, DAEMON_ENDED);
  }

  return { now, later };
}
