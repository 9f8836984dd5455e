import type { ConsoleEntry, Level } from '../../core/changes/streams.js';
import { bounded, boundedUrl } from './bounds.js';
import { consoleText, valueText, withoutStack } from './console-text.js';
import { fieldsOf, listOf, numberOf, textOf, type Fields } from './message.js';

const BY_CALL: ReadonlyMap<unknown, Level> = new Map([
  ['error', 'error'],
  ['assert', 'error'],
  ['warning', 'warning'],
  ['info', 'info'],
  ['debug', 'debug'],
]);
const BY_LOG: ReadonlyMap<unknown, Level> = new Map([
  ['error', 'error'],
  ['warning', 'warning'],
  ['info', 'info'],
  ['verbose', 'debug'],
]);
/** They say nothing. */
const SILENT_CALLS: readonly unknown[] = ['clear', 'endGroup', 'profile', 'profileEnd'];
/** Told already: as a request or a WebSocket of its own, and by the worker itself. */
const TOLD_ELSEWHERE: readonly unknown[] = ['network', 'worker'];
const LONGEST_SOURCE = 500;

/** What a page wrote into its console: `Runtime.consoleAPICalled`. */
export function fromConsoleCall(params: Fields, now: number): ConsoleEntry | undefined {
  const { type, args, timestamp, stackTrace } = params;
  if (SILENT_CALLS.includes(type)) return undefined;
  const text = consoleText(args);
  return {
    level: BY_CALL.get(type) ?? 'log',
    message: bounded(type === 'assert' ? `Assertion failed: ${text}` : text),
    source: topOf(stackTrace),
    at: numberOf(timestamp) ?? now,
  };
}

/** What the browser itself has to say about a page: `Log.entryAdded`. */
export function fromLog(params: Fields, now: number): ConsoleEntry | undefined {
  const { source, level, text, timestamp, url, lineNumber, stackTrace } = fieldsOf(params['entry']);
  if (TOLD_ELSEWHERE.includes(source)) return undefined;
  return {
    level: BY_LOG.get(level) ?? 'log',
    message: bounded(textOf(text) ?? ''),
    source: place(url, lineNumber) ?? topOf(stackTrace),
    at: numberOf(timestamp) ?? now,
  };
}

/** An error nobody caught, a rejection nobody handled: `Runtime.exceptionThrown`. */
export function fromException(params: Fields, now: number): ConsoleEntry {
  const { text, exception, url, lineNumber, stackTrace } = fieldsOf(params['exceptionDetails']);
  const thrown = fieldsOf(exception);
  const description = textOf(thrown['description']);
  const what = description === undefined ? valueText(thrown) : withoutStack(description);
  const prefix = textOf(text) ?? 'Uncaught';
  return {
    level: 'error',
    // Of a script that cannot be parsed the prefix says it all.
    message: bounded(prefix.includes(what) ? prefix : `${prefix} ${what}`),
    source: place(url, lineNumber) ?? topOf(stackTrace),
    at: numberOf(params['timestamp']) ?? now,
  };
}

/** The first place of a stack that has an address. */
function topOf(stackTrace: unknown): string | null {
  for (const frame of listOf(fieldsOf(stackTrace)['callFrames'])) {
    const { url, lineNumber } = fieldsOf(frame);
    const found = place(url, lineNumber);
    if (found !== null) return found;
  }
  return null;
}

/** `file:line`; what follows a question mark only keeps caches from being used. */
function place(url: unknown, line: unknown): string | null {
  const [file = ''] = (textOf(url) ?? '').split(/[?#]/u, 1);
  if (file === '') return null;
  const number = numberOf(line);
  return `${bounded(boundedUrl(file), LONGEST_SOURCE)}${number === undefined ? '' : `:${number + 1}`}`;
}
