import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { JournalFacts } from '../../src/core/journal.js';
import type { DialogId } from '../../src/core/model.js';
import { createQueue } from '../../src/core/queue.js';
import type { DialogBook } from '../../src/workspace/dialog-book.js';
import type { EventQuery } from '../../src/core/event-index.js';
import { Projection, type ProjectionDeps } from '../../src/workspace/projection.js';

const D = 'D' as DialogId;

/** A dialog of facts without text, and a journal that can be kept from being made. */
function setUp() {
  const site = {
    ...{ lastSeq: 1, isFull: false, isDue: false, made: [] as number[], readings: 0 },
    /** Where the journal is, when it is not where the book is. */
    ...{ at: undefined as number | undefined, refuses: false },
    taken: [] as (readonly [after: number | undefined, seq: number])[],
  };
  const book = {
    list: () => [{ id: D }],
    lastSeq: () => site.lastSeq,
  } as unknown as DialogBook;
  const journal = {
    needsRebuild: () => site.isDue,
    lastSeq: () => (site.isDue ? 0 : (site.at ?? site.lastSeq)),
    project: (_: string, { after, seq }: JournalFacts) => {
      site.taken.push([after, seq]);
      if (site.refuses) site.isDue = true;
      else site.at = seq;
    },
    rebuild: (_: string, entries: Iterable<JournalFacts>) => {
      if (site.isFull) throw new Error('full');
      site.isDue = false;
      site.made.push([...entries].at(-1)?.seq ?? 0);
    },
  };
  const created = { what: 'created', title: 't', initial: 'c' };
  const used = { what: 'used' };
  const timeline = {
    index: {
      find: ({ action, after = 0, before = Infinity }: EventQuery) =>
        Array.from({ length: site.lastSeq }, (_, at) => at + 1)
          .filter((seq) => seq > after && seq < before)
          .filter((seq) => action === undefined || action === (seq === 1 ? 'dialog' : 'save'))
          .reverse(),
    },
    entries: async (seqs: readonly number[]) => {
      const entries = seqs.map((seq) => ({ seq, ts: '', fact: seq === 1 ? created : used }));
      // A line comes while they are read.
      if (++site.readings === 1) site.lastSeq++;
      return Promise.resolve(entries);
    },
  };
  const log = { write: () => undefined };
  const deps = { journal, timeline, log } as unknown as ProjectionDeps;
  return { site, book, projection: new Projection(deps) };
}

describe('a journal', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is not put back behind a line that came while the others were read', async () => {
    const { site, book, projection } = setUp();
    const queue = createQueue();
    await projection.rebuild(book, D, (turn) => queue.run(turn));
    expect(site.made).toEqual([2]);
  });

  it('that is some lines short gets these, and is not made again', async () => {
    const { site, book, projection } = setUp();
    Object.assign(site, { lastSeq: 6, at: 4, readings: 1 });
    await projection.catchUp(book);
    expect(site.taken).toEqual([
      [4, 5],
      [5, 6],
    ]);
    expect(site.made).toEqual([]);
    await projection.catchUp(book);
    expect(site.taken).toHaveLength(2);
  });

  it('that does not take what it lacks is made again', async () => {
    const { site, book, projection } = setUp();
    Object.assign(site, { lastSeq: 6, at: 4, readings: 1, refuses: true });
    await projection.catchUp(book);
    expect(site.made).toEqual([6]);
  });

  it('that cannot be made is tried again until it can', async () => {
    jest.useFakeTimers();
    const { site, book, projection } = setUp();
    Object.assign(site, { isDue: true, isFull: true });
    await projection.keepUp(book, createQueue());
    expect(site.made).toEqual([]);
    site.isFull = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(site.made).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
