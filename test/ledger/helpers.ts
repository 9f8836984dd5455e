import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from '@jest/globals';
import type { Ledger, NewEvent } from '../../src/core/ledger.js';
import type { LedgerIo } from '../../src/ledger/files.js';
import { createLedger } from '../../src/ledger/ledger.js';

const open: Ledger[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const ledger of open.splice(0)) await ledger.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A state folder with a `ledger` in it; gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'smithyd-ledger-'));
  folders.push(folder);
  return join(folder, 'ledger');
}

/** Not opened yet; closed after the test. */
export function ledgerIn(
  folder: string,
  io: Partial<LedgerIo> = {},
  segmentBytes = 64 * 1024 * 1024,
): Ledger {
  const ledger = createLedger({ folder, io, segmentBytes });
  open.push(ledger);
  return ledger;
}

export const linesIn = (folder: string): Buffer => readFileSync(join(folder, 'events.jsonl'));

export function note(rationale: string, more: Partial<NewEvent> = {}): NewEvent {
  return {
    ts: '2026-01-02T03:04:05.000Z',
    author: { name: 'tester', kind: 'human' },
    action_type: 'meta_note',
    rationale,
    ...more,
  };
}
