import type { Ledger, LedgerEntry } from '../core/ledger.js';

const PAGE = 5_000;

/** Goes through the ledger once, oldest line first. */
export async function replay(
  ledger: Pick<Ledger, 'read'>,
  take: (entry: LedgerEntry) => void | Promise<void>,
  from = 0,
): Promise<void> {
  for (let after = from; ;) {
    const entries = await ledger.read({ after, limit: PAGE });
    for (const entry of entries) await take(entry);
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
