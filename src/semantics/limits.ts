import type { Language } from '../core/semantics.js';

const KB = 1024;

/**
 * More is generated, and nobody asks for its functions. At these sizes each reader stays below
 * 200 MB and two seconds for any content but the most hostile; YAML costs four times as much.
 */
export function mostBytes(language: Language): number {
  if (language === 'yaml') return 256 * KB;
  return language === 'json' ? 1024 * KB : 512 * KB;
}

/** Half a second parses 600 KB of dense TypeScript; more would let one file hold up the others. */
export const PARSE_MS = 2_000;
/**
 * From sending a file to its answer, with the start of the thread and the loading of a grammar.
 * The grammars look at the clock rarely on input like a hundred thousand open brackets.
 */
export const ANSWER_MS = 5_000;
/** A list of numbers that fills a file; naming each costs more than it tells. */
export const MOST_PARTS = 300_000;
/** Deeper steps belong to the last one that is named. */
export const MOST_DEPTH = 100;
/**
 * A parser that goes down step by step may run out of stack, and a pattern that is compiled there ends
 * the process (V8). Nobody nests by hand like that.
 */
export const DEEPEST_NESTING = 300;
/** A queue that is longer is older than what people look at. */
export const MOST_WAITING = 200;
export const MOST_WAITING_BYTES = 32 * KB * KB;
/** Starting again costs a tenth of a second, a thread at rest 30 MB. */
export const IDLE_MS = 20_000;

/** The file is beyond what can be examined; the message says why. */
export class BeyondLimit extends Error {}
