import { describe, expect, it } from '@jest/globals';
import { createQueue } from '../../src/core/queue.js';

function gate() {
  let open: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}

describe('the queue of writers', () => {
  it('runs one turn after the other, and a failed one stops nobody', async () => {
    const queue = createQueue();
    const order: number[] = [];
    const first = gate();
    const turns = [
      queue.run(async () => {
        await first.promise;
        order.push(1);
      }),
      queue.run(() => Promise.reject(new Error('no'))).catch(() => order.push(2)),
      queue.run(() => order.push(3)),
    ];
    first.open();
    await Promise.all(turns);
    expect(order).toEqual([1, 2, 3]);
  });

  it('lets shared turns run beside each other, and never beside a lonely one', async () => {
    const queue = createQueue();
    let lonely = 0;
    let shared = 0;
    let most = 0;
    const meet = gate();
    const share = () =>
      queue.share(async () => {
        expect(lonely).toBe(0);
        shared += 1;
        most = Math.max(most, shared);
        if (shared === 2) meet.open();
        await meet.promise;
        shared -= 1;
      });
    const alone = () =>
      queue.run(async () => {
        expect([lonely, shared]).toEqual([0, 0]);
        lonely += 1;
        await Promise.resolve();
        lonely -= 1;
      });
    await Promise.all([alone(), share(), share(), alone(), share(), alone()]);
    expect(most).toBe(2);
  });

  it('goes on after a shared turn has failed', async () => {
    const queue = createQueue();
    await expect(queue.share(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await queue.run(() => 1)).toBe(1);
  });

  it('does nothing before it is opened, and nothing at all when that fails', async () => {
    const queue = createQueue();
    const opened = queue.open(() => Promise.reject(new Error('cannot open')));
    const shared = queue.share(() => 1);
    const run = queue.run(() => 1);
    await expect(opened).rejects.toThrow('cannot open');
    await expect(shared).rejects.toThrow('cannot open');
    await expect(run).rejects.toThrow('cannot open');
  });

  it('is calm when everybody who came before is done, whatever became of it', async () => {
    const queue = createQueue();
    const work = gate();
    const order: string[] = [];
    const turn = queue.run(async () => {
      await work.promise;
      order.push('turn');
      throw new Error('no');
    });
    const calm = queue.calm().then(() => order.push('calm'));
    const later = queue.run(() => order.push('later'));
    work.open();
    await Promise.allSettled([turn, calm, later]);
    expect(order.slice(0, 1)).toEqual(['turn']);
    expect(order).toContain('calm');
    await queue.calm();
  });
});
