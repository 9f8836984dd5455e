import type { Work } from './work.js';

export interface UnknownResult {
  readonly hasUnknownChanges: boolean;
  readonly unknownChanges: readonly {
    readonly filePath: string;
    readonly changeType: string;
    readonly expectedHash: string | null;
    readonly actualHash: string | null;
    readonly diff?: string;
  }[];
  readonly affectedFiles: readonly string[];
  readonly generatedDiff?: string;
  readonly warnings?: readonly string[];
}
export interface Started {
  readonly edit_id: string;
  readonly files: readonly {
    readonly path: string;
    readonly exists: boolean;
    readonly hash: string | null;
  }[];
  readonly unknown: UnknownResult;
  readonly warnings: readonly string[];
}
export interface Finalized {
  readonly edit_id: string;
  readonly files: readonly {
    readonly path: string;
    readonly from?: string;
    readonly change: string;
    readonly before: string | null;
    readonly after: string | null;
    readonly additions: number;
    readonly deletions: number;
    readonly diff?: string;
  }[];
  readonly events: readonly string[];
}
export interface Aborted {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly saved: readonly { readonly path: string; readonly hash: string }[];
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** The methods of the edit protocol, called as an agent would. */
export function editing(work: Work) {
  return {
    start: (files: readonly string[], more: object = {}) =>
      work.call<Started>('start_edit', { files, agent: { name: 'ann' }, ...more }),
    startProject: (more: object = {}) =>
      work.call<Started>('start_edit', { scope: 'project', tool: 'make', ...more }),
    finalize: ({ edit_id }: { edit_id: string }) =>
      work.call<Finalized>('finalize_edit', { edit_id }),
    abort: ({ edit_id }: { edit_id: string }) => work.call<Aborted>('abort_edit', { edit_id }),
    unknown: async (files?: readonly string[]) =>
      work.call<UnknownResult>(
        'detect_unknown_modifications',
        files === undefined ? {} : { files },
      ),
    /** `author author author`, one word for each line. */
    authors: async (path: string): Promise<string> => {
      const { lines } = await work.call<Blamed>('blame', { path });
      return lines
        .flatMap(({ from, to, by }) => Array.from({ length: to - from + 1 }, () => by))
        .join(' ');
    },
  };
}

interface Blamed {
  readonly lines: readonly { readonly from: number; readonly to: number; readonly by: string }[];
}
