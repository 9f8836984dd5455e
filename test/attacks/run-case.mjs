/** Tries one attack on a stage of its own. */
import { Stage } from './stage.mjs';

/** @throws what shows that the attack got through. */
export async function tryAttack(attack, { seconds = 2 } = {}) {
  const stage = new Stage();
  try {
    await attack.run(stage, { seconds });
    await stage.verify();
  } finally {
    await stage.remove();
  }
}
