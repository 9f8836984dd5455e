import type { DialogId } from '../core/model.js';
import type { Log } from '../core/ports.js';
import type { Queue } from '../core/queue.js';
import type { Restores } from './restores.js';
import type { Saving } from './saving.js';
import type { Unrecorded } from './unrecorded.js';

export interface MendingDeps {
  readonly unrecorded: Unrecorded;
  readonly saving: Saving;
  readonly restores: Pick<Restores, 'rollBack'>;
  readonly log: Log;
}

/**
 * A call that fails on the way (a full disk, mostly) is taken back as a whole: its caller was told
 * that it did not happen. What cannot be taken back now is tried again before the next call.
 */
export function createMending({ unrecorded, saving, restores, log }: MendingDeps) {
  async function takeBack(): Promise<void> {
    for (const dialog of unrecorded.dialogs()) {
      // What it holds as saved is not.
      saving.forget(dialog as DialogId);
      await unrecorded.takeBack(dialog);
      log.write('warn', 'took back what could not be recorded', { dialog });
    }
    const left = await restores.rollBack();
    if (left === undefined) return;
    log.write('warn', 'rolled back what could not be finished', {
      what: left.what,
      dialog: left.dialog,
    });
  }

  async function mend(): Promise<void> {
    // Reading needs nothing of this, and a writer finds the reason by itself.
    await takeBack().catch((error: unknown) => {
      log.write('error', 'a failed call is still to be taken back', { error: String(error) });
    });
  }

  return (queue: Queue): Queue => ({
    ...queue,
    run: (turn) =>
      queue.run(async () => {
        await mend();
        unrecorded.begin();
        try {
          return await turn();
        } catch (error) {
          unrecorded.fail();
          await mend();
          throw error;
        }
      }),
  });
}
