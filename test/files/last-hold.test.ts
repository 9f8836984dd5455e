import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { it } from '@jest/globals';
import { createLastHold, type LastHold } from '../../src/files/last-hold.js';
import { soon } from '../support/until.js';

const MANY = 20;

function holdMany(hold: LastHold): void {
  for (let count = 0; count < MANY; count++) hold.takeOver?.(openSync(devNull, 'r'));
}

it('goes on with everybody who waits for room', async () => {
  const hold = createLastHold(2);
  holdMany(hold);
  await soon('room for both', Promise.all([hold.room(), hold.room()]));
  hold.letGo();
});

it('makes room where no file may be held', async () => {
  const hold = createLastHold(0);
  await soon('room at once', hold.room());
  holdMany(hold);
  await soon('room again', hold.room());
  hold.letGo();
});
