/** Tools that follow each other as fast as they can: what they write is never unknown. */
import { strict as assert } from 'node:assert';
import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WRITES = [
  (file, round) => writeFileSync(file, `round ${round}\n`),
  (file, round) => appendFileSync(file, `more in ${round}\n`),
  (file, round) => {
    rmSync(file, { force: true });
    writeFileSync(file, `anew in ${round}\n`);
  },
  (file, round, beside) => {
    writeFileSync(beside, `moved here in ${round}\n`);
    renameSync(beside, file);
  },
];

/**
 * Brackets on one file, each beginning the moment the one before ends; `clients` take turns. Every
 * other start is sent before the end it follows is answered.
 */
export async function rapidBrackets({ open, root, beside, file, rounds, clients: count }) {
  const clients = await Promise.all(Array.from({ length: count }, () => open()));
  const listener = await open();
  await listener.must('subscribe', { types: ['unknown_change'] });
  const start = (round) =>
    clients[round % count].must('start_edit', { files: [file], wait_ms: 60_000, tool: 'racer' });
  let begun = start(0);
  for (let round = 0; round < rounds; round++) {
    const { edit_id: id, unknown } = await begun;
    assert.deepEqual(unknown.unknownChanges, [], `round ${round}: own work was unknown`);
    WRITES[round % WRITES.length](join(root, file), round, beside);
    const ended = clients[round % count].must('finalize_edit', { edit_id: id });
    if (round % 2 === 0) await ended;
    if (round + 1 < rounds) begun = start(round + 1);
    const { files } = await ended;
    const [{ change }] = files;
    assert(change === 'modified' || change === 'created', `round ${round}: ${change}`);
  }
  const found = await listener.must('detect_unknown_modifications', {});
  assert.deepEqual(found.unknownChanges, [], 'own work was unknown at the end');
  assert.deepEqual(listener.events, [], 'own work was told as unknown');
  for (const client of [...clients, listener]) client.destroy();
  return rounds;
}
