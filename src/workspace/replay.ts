import type { Ledger, LedgerEntry } from '../core/ledger.js';

const PAGE = 5_000;

/** Goes through the ledger once, oldest line first, until `take` says false. */
export async function replay(
  ledger: Pick<Ledger, 'read'>,
  take: (entry: LedgerEntry) => unknown,
  from = 0,
): Promise<void> {
  for (let after = from; ;) {
    const entries = await ledger.read({ after, limit: PAGE });
    for (const entry of entries) if ((await take(entry)) === false) return;
    const last = entries.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
