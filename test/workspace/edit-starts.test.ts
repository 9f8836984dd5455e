import { describe, expect, it } from '@jest/globals';
import { Config } from '../../src/core/config.js';
import type { EditFacts } from '../../src/core/edits.js';
import type { PublishedEvent } from '../../src/core/events.js';
import type { EditId, Hash, Path } from '../../src/core/model.js';
import { createQueue } from '../../src/core/queue.js';
import type { FileState, KnownEntry, Watcher } from '../../src/core/watching.js';
import { Accounts, type AccountDeps } from '../../src/workspace/accounts.js';
import { Claims } from '../../src/workspace/claims.js';
import { EditStarts, type EditStartDeps } from '../../src/workspace/edit-starts.js';

const P = 'p' as Path;
const config = () => Config.parse({});
const ofProject = { id: 'E' as EditId, scope: 'project' } as EditFacts;

function stateOf(digit: string): FileState {
  return { hash: digit.repeat(40) as Hash, mode: '100644' };
}

describe('a start of an edit that fails', () => {
  it('leaves what somebody wrote meanwhile unknown', async () => {
    const known = new Map<Path, KnownEntry>();
    const put = (digit: string) =>
      known.set(P, { path: P, kind: 'file', size: 1, ...stateOf(digit) });
    put('1');
    const watcher = {
      publish: () => undefined,
      get: (path: Path) => known.get(path),
      settle: () => Promise.resolve({ fresh: true }),
    } as unknown as Watcher;
    const claims = new Claims(watcher, config);
    const told: PublishedEvent[] = [];
    const starts = new EditStarts({
      ...{ watcher, claims, config, queue: createQueue() },
      accounts: new Accounts({} as AccountDeps),
      events: { publish: (event: PublishedEvent) => told.push(event) },
      // The disk is full, and an editor saves a file before that is known.
      unsaved: () => {
        put('2');
        const change = { path: P, change: 'modified', origin: 'live', echo: false } as const;
        const changes = [{ ...change, before: stateOf('1'), after: stateOf('2') }];
        claims.take({ changes, untracked: [], more: false });
        return Promise.reject(new Error('full'));
      },
    } as unknown as EditStartDeps);
    const request = { facts: ofProject, paths: [], strategy: 'warn', expect: new Map() } as const;
    await expect(starts.start(request)).rejects.toThrow('full');
    expect(claims.unknown()).toMatchObject([{ path: P, expected: stateOf('1') }]);
    expect(told).toMatchObject([{ type: 'unknown_change', total: 1 }]);
  });
});
