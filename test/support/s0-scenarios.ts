import { expect } from '@jest/globals';
import { until } from './until.js';

/** What a running program can be made to do. */
export type Telling =
  | { readonly console: 'error' | 'warning' | 'log'; readonly message: string }
  | { readonly request: string; readonly status: number }
  | { readonly websocket: 'open' | 'close'; readonly code?: number; readonly reason?: string }
  | { readonly action: 'click' };

export interface Changes {
  readonly from: string;
  readonly to: string;
  readonly duration_ms: number;
  readonly severity: 'clean' | 'warning' | 'error';
  readonly summary: string;
  readonly token_count: number;
  readonly cursor: string;
  readonly fresh: boolean;
  readonly evicted?: readonly string[];
  readonly telemetry?: string;
  readonly files?: {
    readonly total_new: number;
    readonly changed: readonly {
      readonly path: string;
      readonly from?: string;
      readonly change: string;
      readonly by: string;
      readonly additions: number | null;
      readonly deletions: number | null;
      readonly diff?: string;
      readonly also?: readonly string[];
      readonly origin?: string;
      readonly files?: number;
    }[];
    readonly omitted?: number;
  };
  readonly console?: {
    readonly total_new: number;
    readonly errors: readonly Said[];
    readonly warnings: readonly Said[];
    readonly omitted?: number;
    readonly noise?: number;
  };
  readonly network?: {
    readonly total_new: number;
    readonly failures: readonly { path: string; status: number; previous_status: number }[];
    readonly failing_new_endpoints: readonly { path: string; status: number }[];
    readonly new_endpoints: readonly string[];
    readonly degraded: readonly { path: string; duration_ms: number; baseline_ms: number }[];
    readonly noise?: number;
  };
  readonly websocket?: {
    readonly total_new: number;
    readonly disconnections: readonly {
      url: string;
      close_code: number | null;
      close_reason: string | null;
    }[];
    readonly connections: readonly string[];
    readonly errors: readonly object[];
  };
  readonly actions?: {
    readonly total_new: number;
    readonly actions: readonly { type: string; url: string | null; timestamp: string }[];
  };
}

interface Said {
  readonly message: string;
  readonly source: string | null;
  readonly count: number;
}

/** A daemon and a program that tells of itself, whichever way. */
export interface Stage {
  /** Makes these happen one after the other; resolves when the daemon knows of all of them. */
  tell(what: readonly Telling[]): Promise<void>;
  changes(params?: object): Promise<Changes>;
  mark(name: string): Promise<{ readonly cursor: string; readonly checkpoint: string }>;
  /** A name that nobody had before. */
  newName(): string;
}

const errors = (
  count: number,
  text = (number: number) => `Failed part ${'abcdefgh'.charAt(number)}`,
) =>
  Array.from({ length: count }, (_, number): Telling => {
    return { console: 'error', message: text(number) };
  });

const many = (count: number) =>
  errors(
    count,
    (number) =>
      `Distinct failure of ${String.fromCharCode(97 + (number % 26))}${'x'.repeat(1 + Math.floor(number / 26))}`,
  );

/** A client that has looked just now. */
async function looking(stage: Stage) {
  const client = stage.newName();
  await stage.changes({ client });
  return (params: object = {}): Promise<Changes> => stage.changes({ client, ...params });
}

async function clockMovesOn(): Promise<void> {
  const begun = Date.now();
  await until('the clock has moved on', () => Date.now() > begun);
}

/** A time that tells what came before it from what comes after. */
async function nextInstant(): Promise<string> {
  await clockMovesOn();
  const now = new Date().toISOString();
  await clockMovesOn();
  return now;
}

/** The test scenarios of the source document, by their numbers there. */
export const SCENARIOS: readonly (readonly [string, (stage: Stage) => Promise<void>])[] = [
  [
    '1: nothing has happened: clean, empty sections and the sentence that says so',
    async (stage) => {
      const look = await looking(stage);
      const found = await look();
      expect(found.severity).toBe('clean');
      expect(found.summary.replace(/\.$/u, '')).toBe('No significant changes');
      expect(found.console).toEqual({ total_new: 0, errors: [], warnings: [] });
      expect(found.network).toMatchObject({ total_new: 0, failures: [], new_endpoints: [] });
      expect(found.websocket).toMatchObject({ total_new: 0, disconnections: [] });
      expect(found.actions).toEqual({ total_new: 0, actions: [] });
    },
  ],
  [
    '2: three new errors are three entries, and the severity is error',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(errors(3));
      const { console, severity } = await look();
      expect(console?.errors).toHaveLength(3);
      expect(console?.total_new).toBe(3);
      expect(severity).toBe('error');
    },
  ],
  [
    '3: the same error five times is one entry with its count',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(errors(5, () => 'The same again'));
      expect((await look()).console?.errors).toMatchObject([
        { message: 'The same again', count: 5 },
      ]);
    },
  ],
  [
    '4: an endpoint that answered 200 and now answers 500 is a failure with its previous status',
    async (stage) => {
      const path = `/api/${stage.newName()}`;
      await stage.tell([{ request: path, status: 200 }]);
      const look = await looking(stage);
      await stage.tell([{ request: path, status: 500 }]);
      const { network, severity } = await look();
      expect(network?.failures).toEqual([{ path, status: 500, previous_status: 200 }]);
      expect(severity).toBe('error');
    },
  ],
  [
    '5: an endpoint never asked before is among the new ones',
    async (stage) => {
      const path = `/api/${stage.newName()}`;
      const look = await looking(stage);
      await stage.tell([{ request: path, status: 200 }]);
      expect((await look()).network?.new_endpoints).toEqual([path]);
      await stage.tell([{ request: path, status: 200 }]);
      expect((await look()).network?.new_endpoints).toEqual([]);
    },
  ],
  [
    '6: a WebSocket that closes is among the disconnections',
    async (stage) => {
      await stage.tell([{ websocket: 'open' }]);
      const look = await looking(stage);
      await stage.tell([{ websocket: 'close', code: 4001, reason: 'going away' }]);
      const { websocket, severity } = await look({ include: ['websocket'] });
      expect(websocket?.disconnections).toMatchObject([
        { close_code: 4001, close_reason: 'going away' },
      ]);
      expect(severity).toBe('warning');
    },
  ],
  [
    '7: the first look sees the errors, the second one nothing',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(errors(2));
      expect((await look()).console?.errors).toHaveLength(2);
      expect((await look()).console).toEqual({ total_new: 0, errors: [], warnings: [] });
    },
  ],
  [
    '8: a named point answers the same whatever others ask',
    async (stage) => {
      const name = stage.newName();
      await stage.mark(name);
      await stage.tell(errors(1, () => 'After the mark'));
      const look = await looking(stage);
      const named = () => stage.changes({ checkpoint: name, include: ['console'] });
      const first = await named();
      await look();
      await stage.changes({ client: stage.newName() });
      const again = await named();
      expect(first.console?.errors).toMatchObject([{ message: 'After the mark', count: 1 }]);
      expect(again.console).toEqual(first.console);
      // And asking about it moved nobody.
      await stage.tell(errors(1, () => 'Later'));
      await named();
      expect((await look()).console?.errors).toMatchObject([{ message: 'Later' }]);
    },
  ],
  [
    '9: errors_only leaves warnings out',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell([
        { console: 'warning', message: 'Careful' },
        { console: 'error', message: 'Broken' },
      ]);
      const { console, summary } = await look({ severity: 'errors_only' });
      expect(console?.errors).toHaveLength(1);
      expect(console?.warnings).toEqual([]);
      expect(summary).toBe('1 new console error(s)');
    },
  ],
  [
    '10: categories that are not asked for are not there at all',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell([{ action: 'click' }]);
      const found = await look({ include: ['console', 'network'] });
      expect(Object.keys(found)).toEqual(expect.arrayContaining(['console', 'network']));
      expect(found).not.toHaveProperty('websocket');
      expect(found).not.toHaveProperty('actions');
      expect(found).not.toHaveProperty('files');
    },
  ],
  [
    '11: a buffer that wrapped past the position gives what is left, and says so',
    async (stage) => {
      const { cursor } = await stage.changes({ client: stage.newName() });
      await stage.tell(Array.from({ length: 60 }, (): Telling => ({ action: 'click' })));
      const found = await stage.changes({ checkpoint: cursor, include: ['actions'] });
      expect(found.actions?.actions).toHaveLength(50);
      expect(found.actions?.total_new).toBe(60);
      expect(found.evicted).toEqual(['actions']);
    },
  ],
  [
    '12: a time stands for everything after it',
    async (stage) => {
      await stage.tell(errors(1, () => 'Before that time'));
      const time = await nextInstant();
      await stage.tell(errors(1, () => 'After that time'));
      const { console } = await stage.changes({ checkpoint: time, include: ['console'] });
      expect(console?.errors.map(({ message }) => message)).toEqual(['After that time']);
    },
  ],
  [
    '13: the token count is about a quarter of the bytes',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(errors(8));
      const found = await look();
      const bytes = Buffer.byteLength(JSON.stringify(found));
      expect(Math.abs(found.token_count - bytes / 4)).toBeLessThanOrEqual(2);
    },
  ],
  [
    '14: of a hundred errors fifty are told',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(many(100));
      const { console } = await look();
      expect(console?.errors).toHaveLength(50);
      expect(console).toMatchObject({ total_new: 100, omitted: 50 });
    },
  ],
  [
    '15: readers and writers at the same time: every entry is told to everybody exactly once',
    async (stage) => {
      const looks = await Promise.all([1, 2, 3, 4].map(() => looking(stage)));
      const seen = looks.map(() => 0);
      let isDone = false;
      const readers = looks.map(async (look, reader) => {
        while (!isDone)
          seen[reader] = (seen[reader] ?? 0) + ((await look()).console?.total_new ?? 0);
        seen[reader] = (seen[reader] ?? 0) + ((await look()).console?.total_new ?? 0);
      });
      for (let round = 0; round < 20; round++) await stage.tell(errors(5));
      isDone = true;
      await Promise.all(readers);
      expect(seen).toEqual([100, 100, 100, 100]);
    },
  ],
  [
    '16: ids, times and long numbers do not make a message another one',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell(
        errors(3, (number) => {
          const id = `0a1b2c3d-0000-4000-8000-00000000000${number}`;
          return `User ${id} at 2026-01-0${number + 1}T10:00:00.000Z in order ${10_000 + number}`;
        }),
      );
      await stage.tell(errors(2, (number) => `Only ${number + 100} of them`));
      const { console } = await look();
      expect(console?.errors.map(({ count }) => count)).toEqual([3, 1, 1]);
    },
  ],
  [
    '17: queries do not make an endpoint another one',
    async (stage) => {
      const path = `/api/${stage.newName()}`;
      const look = await looking(stage);
      await stage.tell([
        { request: `${path}?page=1`, status: 200 },
        { request: `${path}?page=2&q=x`, status: 200 },
      ]);
      const { network } = await look();
      expect(network?.new_endpoints).toEqual([path]);
      expect(network?.total_new).toBe(2);
    },
  ],
  [
    '18: an error outweighs a warning, a warning outweighs nothing',
    async (stage) => {
      const look = await looking(stage);
      await stage.tell([{ console: 'log', message: 'All is well' }]);
      expect((await look()).severity).toBe('clean');
      await stage.tell([{ console: 'warning', message: 'Careful' }]);
      expect((await look()).severity).toBe('warning');
      await stage.tell([
        { console: 'warning', message: 'Careful' },
        { console: 'error', message: 'Broken' },
      ]);
      expect((await look()).severity).toBe('error');
    },
  ],
  [
    '19: the summary counts errors and failures in these very words',
    async (stage) => {
      const path = `/api/${stage.newName()}`;
      await stage.tell([{ request: path, status: 200 }]);
      const look = await looking(stage);
      await stage.tell([...errors(2), { request: path, status: 503 }]);
      expect((await look({ include: ['console', 'network'] })).summary).toBe(
        '2 new console error(s), 1 network failure(s)',
      );
    },
  ],
];
