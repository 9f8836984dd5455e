import type { Connection } from './daemon-process.mjs';

export function rapidBrackets(options: {
  open: () => Promise<Connection>;
  root: string;
  /** A path outside the project, from where a file is moved in. */
  beside: string;
  file: string;
  rounds: number;
  clients: number;
}): Promise<number>;
