import { describe, it } from '@jest/globals';
import { pushStage } from '../support/push-stage.js';
import { SCENARIOS } from '../support/s0-scenarios.js';
import { sharedWork } from '../support/work.js';

describe('what happened since somebody looked, told by a program over the socket', () => {
  const work = sharedWork();

  const stage = pushStage((method, params) => work().call(method, params));

  it.each(SCENARIOS)('%s', async (_, play) => {
    await play(stage);
  });
});
