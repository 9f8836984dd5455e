import { parseCursor } from '../event-cursor.js';
import { BEGINNING, type Positions } from './streams.js';

/** A position in everything that can change, files and telemetry alike. */
export interface ChangeCursor {
  /** The last line of the ledger. */
  readonly seq: number;
  /** Which daemon counted the numbers below; another one's mean nothing. */
  readonly run: string;
  /** Changes of files noticed by then. */
  readonly observed: number;
  readonly positions: Positions;
  /** Wall time in ms. */
  readonly at: number;
}

const SIGN = 'c1';
/** Beyond it there are no dates. */
const LAST_MS = 8_640_000_000_000_000;

export function formatChangeCursor({ seq, run, observed, positions, at }: ChangeCursor): string {
  const { console, network, websocket, actions } = positions;
  const numbers = [seq, observed, console, network, websocket, actions, at];
  return [SIGN, run, ...numbers.map((number) => number.toString(36))].join('.');
}

/** Also reads cursors of the event stream, which name a line of the ledger. */
export function parseChangeCursor(text: string): ChangeCursor | undefined {
  const [sign, run = '', ...rest] = text.split('.');
  if (sign !== SIGN) return fromEventCursor(text);
  const numbers = rest.map((part) =>
    /^[0-9a-z]{1,11}$/u.test(part) ? Number.parseInt(part, 36) : NaN,
  );
  const isWhole = numbers.length === 7 && numbers.every(Number.isSafeInteger);
  const [seq = 0, observed = 0, console = 0, network = 0, websocket = 0, actions = 0, at = 0] =
    numbers;
  if (!isWhole || at > LAST_MS || !/^[0-9a-f]{1,32}$/u.test(run)) return undefined;
  return { seq, run, observed, positions: { console, network, websocket, actions }, at };
}

function fromEventCursor(text: string): ChangeCursor | undefined {
  // A number alone is too easily something else; subscribers have their own way to go on.
  if (!text.includes('-')) return undefined;
  const position = parseCursor(text);
  if (position === undefined) return undefined;
  return { seq: position.seq, run: '', observed: 0, positions: BEGINNING, at: 0 };
}
