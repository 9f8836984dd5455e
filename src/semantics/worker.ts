import { parentPort } from 'node:worker_threads';
import { examine, type Question } from './examine.js';

/** Answers one question after the other. */
parentPort?.on('message', (question: Question) => {
  void examine(question).then((answer) => parentPort?.postMessage(answer));
});
