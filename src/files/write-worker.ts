import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from '../core/tree-writer.js';
import { createLastHold } from './last-hold.js';
import { createEye } from './look.js';
import { createPace } from './pace.js';
import { createPerformer } from './performer.js';
import { openWalk } from './walk.js';
import {
  decodeRequest,
  type ThreadData,
  type WriteReply,
  type WriteRequest,
} from './write-wire.js';

/** Thread for replacing many files: takes lists of them with their contents, answers outcomes. */
const { root, identity, mostHeld } = workerData as ThreadData;
const pace = createPace();
let refusals = 0;
/** What is gone by now would be made with the user's mask, which belongs to the whole process. */
const making = (): never => {
  refusals += 1;
  throw new Error('not on this thread');
};
const walk = openWalk({ root, hold: 'descriptor', pace, making });
if (walk.identity !== identity) throw new Error('another folder is at the root');
const lastHold = createLastHold(mostHeld);
const eye = createEye(pace);
const performer = createPerformer({ walk, pace, making, lastHold, eye, signal: undefined });

async function answer(request: WriteRequest): Promise<void> {
  const outcomes: Outcome[] = [];
  const left: number[] = [];
  let number = 0;
  for (const { step, content } of decodeRequest(request)) {
    const before = refusals;
    const outcome = await performer.perform({ step, content: () => Promise.resolve(content) });
    if (refusals > before) left.push(number);
    else outcomes.push(outcome);
    number += 1;
    await lastHold.room();
    await pace.breathe();
  }
  const reply: WriteReply = { id: request.id, outcomes, left, stopped: performer.stopped() };
  parentPort?.postMessage(reply);
}

// One after the other: there is one walk.
let turn = Promise.resolve();
parentPort?.on('message', (request: WriteRequest) => {
  turn = turn.then(() => answer(request));
});
