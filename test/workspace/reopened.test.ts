import { describe, expect, it } from '@jest/globals';
import { Config } from '../../src/core/config.js';
import type { EditFacts } from '../../src/core/edits.js';
import type { DialogId, EditId, Path } from '../../src/core/model.js';
import { Claims } from '../../src/workspace/claims.js';
import type { EditBook } from '../../src/workspace/edit-book.js';
import { reopenEdits } from '../../src/workspace/reopened.js';

const facts: EditFacts = {
  ...{ id: 'e' as EditId, scope: 'project', agent: null, tool: 'make', rationale: null },
  ...{ runId: null, dialog: 'D' as DialogId, since: '2026-01-01T00:00:00.000Z' },
  ...{ detached: false, ttlMs: null, requestId: null },
};

describe('edits of an earlier run', () => {
  it('leave nothing behind when a start is tried twice', () => {
    const watcher = { get: () => undefined, publish: () => undefined };
    const claims = new Claims(watcher, () => Config.parse({}));
    const none = new Map();
    const record = { facts, before: none, touched: none, begun: none };
    const editBook = { open: () => [record] } as unknown as EditBook;
    reopenEdits({ editBook, claims, watcher });
    const [edit] = reopenEdits({ editBook, claims, watcher });
    expect(claims.table.list()).toEqual([edit]);
    if (edit !== undefined) claims.table.close(edit);
    expect(claims.table.owner('a' as Path)).toBeUndefined();
  });
});
