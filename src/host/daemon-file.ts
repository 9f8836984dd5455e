import { rmSync } from 'node:fs';
import { readSmallFile, replaceFile } from './small-files.js';

/** `run/daemon.json`: how to reach the daemon. Its presence is a hint, the socket is the proof. */
export interface DaemonFile {
  readonly pid: number;
  readonly version: string;
  readonly protocol: number;
  readonly root: string;
  readonly socket: string;
  /** Null while HTTP is off. */
  readonly http: { readonly url: string } | null;
  readonly started_at: string;
}

/** Undefined when there is none, or when it cannot be understood. */
export function readDaemonFile(path: string): DaemonFile | undefined {
  const text = readSmallFile(path);
  if (text === undefined) return undefined;
  try {
    const content = JSON.parse(text) as Partial<DaemonFile> | null;
    return typeof content?.socket === 'string' ? (content as DaemonFile) : undefined;
  } catch {
    return undefined;
  }
}

export function writeDaemonFile(path: string, content: DaemonFile): void {
  replaceFile(path, `${JSON.stringify(content, null, 2)}\n`);
}

export function removeDaemonFile(path: string): void {
  rmSync(path, { force: true });
}
