import type { WatchNotice } from '../../src/core/watching.js';

export interface Told {
  readonly fresh: boolean;
  readonly notices: WatchNotice[];
  readonly entries: [string, string][];
  readonly peakBytes: number;
}

export interface WatchProcess {
  ask(): Promise<Told>;
  signal(name: NodeJS.Signals): boolean;
  end(): Promise<void>;
}

export function blobId(text: string): string;
export function watchInProcess(root: string, maxFileBytes?: number): Promise<WatchProcess>;
export function changeWhileStopped(
  root: string,
  count: number,
  folders?: number,
): Promise<{ fresh: boolean; notices: WatchNotice[]; known: number; missed: string[] }>;
