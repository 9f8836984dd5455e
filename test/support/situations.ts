/** Moments of a day's work as a page tells them: what was there before a look, and what came after it. */

type Batch = Readonly<Record<string, readonly object[]>>;

export interface Situation {
  readonly name: string;
  readonly before: Batch;
  readonly after: Batch;
  /** What happens to files, if anything does. */
  readonly files?: 'unknown edits' | 'checkout' | 'formatter' | 'agent';
  readonly severity: 'clean' | 'warning' | 'error';
  /** Has to be readable from the answer alone. */
  readonly facts: readonly (string | RegExp)[];
  /** Must not be told. */
  readonly silent?: readonly string[];
}

const ORIGIN = 'http://localhost:5173';
const repeat = <T>(count: number, make: (number: number) => T): T[] =>
  Array.from({ length: count }, (_, number) => make(number));
const uuid = (number: number): string =>
  `${(0x10000000 + number).toString(16)}-1111-4222-8333-${(0x100000000000 + number * 7919).toString(16)}`;
const said = (level: string, message: string, source = 'src/main.tsx:12:5') => {
  return { level, message, source };
};
const error = (message: string, source?: string) => said('error', message, source);
const warning = (message: string, source?: string) => said('warning', message, source);
const asked = (path: string, status: number, ms = 40) => {
  return { url: `${ORIGIN}${path}`, method: 'GET', status, duration_ms: ms };
};
const clicked = (target: string) => ({ type: 'click', url: `${ORIGIN}/shop`, target });

const PATHS = ['/api/session', '/api/cart', '/api/products', '/api/prices', '/api/user/me'];

/** What a page says all day long and nobody needs to know. */
const chatter = (lines = 260) =>
  repeat(lines, (n) =>
    said(
      n % 3 === 0 ? 'debug' : 'log',
      `[store] action products/received payload={"id":"${uuid(n)}","page":${n % 9},"items":[${n},${n + 1},${n + 2}],"took":${n % 40}} prev=loading next=idle selectors=14 rerenders=${n % 5}`,
      `src/store/log.ts:${n % 90}:11`,
    ),
  );
const routine = (count = 60) =>
  repeat(count, (n) => asked(`${PATHS[n % PATHS.length] ?? '/'}?t=${1_700_000_000 + n}`, 200));
const KNOWN: Batch = {
  network: routine(20),
  websocket: [{ event: 'open', url: 'ws://localhost:5173/live' }],
};
const usual = { before: KNOWN } as const;
const stack = (frames: number) =>
  repeat(
    frames,
    (n) =>
      `\n    at renderWithHooks (${ORIGIN}/node_modules/.vite/deps/chunk-${n}.js:${1000 + n}:22)`,
  ).join('');

export const SITUATIONS: readonly Situation[] = [
  {
    name: 'React hydration error storm',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(80, (n) =>
          error(
            `Hydration failed because the initial UI does not match what was rendered on the server. id=${uuid(n)}${stack(8)}`,
            'react-dom.development.js:86:30',
          ),
        ),
        ...repeat(40, () =>
          error(
            "Warning: Text content did not match. Server: 'Tue' Client: 'Wed'",
            'src/Header.tsx:31:9',
          ),
        ),
      ],
      network: routine(),
    },
    severity: 'error',
    facts: [
      'Hydration failed because the initial UI',
      '"count":80',
      'Text content did not match',
      '"count":40',
      'src/Header.tsx:31:9',
      '2 new console error(s)',
    ],
  },
  {
    name: 'an API that answers 500 after a deploy',
    before: { network: [...routine(20), asked('/api/checkout', 201)] },
    after: {
      console: [
        ...chatter(),
        ...repeat(12, (n) =>
          error(`POST ${ORIGIN}/api/checkout?order=${90_000 + n} 500 (Internal Server Error)`),
        ),
      ],
      network: [
        ...routine(),
        ...repeat(12, (n) => asked(`/api/checkout?order=${90_000 + n}`, 500, 900)),
      ],
    },
    severity: 'error',
    facts: [
      '{"path":"/api/checkout","status":500,"previous_status":201}',
      '1 network failure(s)',
      '"count":12',
    ],
  },
  {
    name: 'requests blocked by CORS',
    before: { network: [...routine(20), asked('/rates/eur', 200)] },
    after: {
      console: [
        ...chatter(),
        ...repeat(9, () =>
          error(
            "Access to fetch at 'https://rates.example.org/rates/eur' from origin 'http://localhost:5173' has been blocked by CORS policy: No 'Access-Control-Allow-Origin' header is present on the requested resource.",
            'src/rates.ts:8:3',
          ),
        ),
      ],
      network: [...routine(), ...repeat(9, () => asked('/rates/eur', 0))],
    },
    severity: 'error',
    facts: [
      'blocked by CORS policy',
      '{"path":"/rates/eur","status":0,"previous_status":200}',
      'src/rates.ts:8:3',
    ],
  },
  {
    name: 'a loop of 401 after the session ran out',
    before: { network: [...routine(20), asked('/api/refresh', 200)] },
    after: {
      console: [
        ...chatter(),
        ...repeat(70, (n) =>
          error(
            `Unauthorized: token expired at 2026-11-17T10:${String(10 + (n % 40))}:00.000Z`,
            'src/api/client.ts:44:11',
          ),
        ),
      ],
      network: [
        ...repeat(50, () => asked('/api/user/me', 401)),
        ...repeat(40, () => asked('/api/refresh', 401)),
      ],
    },
    severity: 'error',
    facts: [
      '{"path":"/api/user/me","status":401,"previous_status":200}',
      '{"path":"/api/refresh","status":401,"previous_status":200}',
      'token expired at',
      '"count":70',
    ],
  },
  {
    name: 'a WebSocket that flaps',
    ...usual,
    after: {
      console: chatter(),
      network: routine(),
      websocket: repeat(120, (n) => {
        const url = 'ws://localhost:5173/live';
        return n % 2 === 0
          ? { event: 'close', url, close_code: 1006, close_reason: 'abnormal closure' }
          : { event: 'open', url };
      }),
    },
    severity: 'warning',
    facts: [
      'ws://localhost:5173/live',
      '"close_code":1006',
      '"count":60',
      '1 WebSocket disconnection(s)',
    ],
  },
  {
    name: 'an endpoint that became slow',
    before: { network: [...routine(20), ...repeat(10, () => asked('/api/search', 200, 35))] },
    after: {
      console: chatter(300),
      network: [...routine(), ...repeat(15, (n) => asked(`/api/search?q=${n}`, 200, 900 + n))],
    },
    severity: 'clean',
    facts: ['"degraded":[{"path":"/api/search"', '"baseline_ms":35', '1 degraded endpoint(s)'],
  },
  {
    name: 'hot reloading and analytics, and nothing else',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(60, (n) => warning(`[vite] hot updated: /src/components/Panel${n}.tsx`)),
        ...repeat(30, () =>
          error('GET https://www.google-analytics.com/g/collect net::ERR_BLOCKED_BY_CLIENT'),
        ),
      ],
      network: [
        ...routine(50),
        ...repeat(20, (n) => ({
          url: `https://www.googletagmanager.com/gtag/js?id=${n}`,
          method: 'GET',
          status: 0,
        })),
      ],
    },
    severity: 'clean',
    facts: ['No significant changes.', '"noise":90', '"noise":20'],
    silent: ['vite', 'google'],
  },
  {
    name: 'noise of third parties beside one real error',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(100, (n) =>
          error(
            `Unchecked runtime.lastError ${n}`,
            `chrome-extension://abcdefghijklmnop/content.js:${n}`,
          ),
        ),
        error(
          "Uncaught TypeError: Cannot read properties of undefined (reading 'total')",
          'src/Cart.tsx:57:19',
        ),
      ],
      network: routine(),
    },
    severity: 'error',
    facts: ['1 new console error(s)', "reading 'total'", 'src/Cart.tsx:57:19', '"noise":100'],
    silent: ['chrome-extension'],
  },
  {
    name: 'warnings about memory',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(50, (n) =>
          warning(
            `[memory] JS heap ${400_000_000 + n * 1_000_000} of 2147483648 bytes, detached nodes: ${1000 + n}`,
            'src/perf.ts:20:7',
          ),
        ),
      ],
      network: routine(),
    },
    severity: 'warning',
    facts: ['[memory] JS heap', '"count":50', '1 new console warning(s)'],
  },
  {
    name: 'a chunk that is not there after a build',
    before: { network: [...routine(20), asked('/assets/index.js', 200)] },
    after: {
      console: [
        ...chatter(),
        error(
          `Uncaught (in promise) TypeError: Failed to fetch dynamically imported module: ${ORIGIN}/assets/Checkout-8f3b2a1c.js`,
          'src/router.ts:14:22',
        ),
      ],
      network: [...routine(), asked('/assets/Checkout-8f3b2a1c.js', 404)],
    },
    severity: 'error',
    facts: [
      '{"path":"/assets/Checkout-8f3b2a1c.js","status":404}',
      'dynamically imported module',
      '1 failing new endpoint(s)',
    ],
  },
  {
    name: 'GraphQL errors behind answers of 200',
    before: { network: [...routine(20), asked('/graphql', 200)] },
    after: {
      console: [
        ...chatter(),
        ...repeat(20, (n) =>
          error(
            `[GraphQL error]: Message: Cannot query field "discount" on type "Order", Location: [object Object], Path: order, Request: ${uuid(n)}`,
            'src/apollo.ts:33:15',
          ),
        ),
      ],
      network: [...routine(40), ...repeat(20, () => asked('/graphql', 200))],
    },
    severity: 'error',
    facts: ['Cannot query field \\"discount\\" on type \\"Order\\"', '"count":20', '"failures":[]'],
  },
  {
    name: 'a person who edits three files during the turn of an agent',
    ...usual,
    after: { console: chatter(), network: routine() },
    files: 'unknown edits',
    severity: 'warning',
    facts: [
      /"path":"src\/by-hand-[123]\.ts","change":"modified","by":"unknown"/u,
      '3 unknown file change(s)',
      '"path":"src/mine.ts","change":"modified","by":"agent:ann"',
    ],
  },
  {
    name: 'a checkout of four hundred files',
    ...usual,
    after: { console: chatter(), network: routine() },
    files: 'checkout',
    severity: 'warning',
    facts: ['"origin":"git"', '"files":400', '400 unknown file change(s)', '"path":"lib/"'],
  },
  {
    name: 'a formatter over a hundred and twenty files',
    ...usual,
    after: { console: chatter(), network: routine() },
    files: 'formatter',
    severity: 'clean',
    facts: ['"by":"command:sh"', '"files":120', '120 file(s) changed', '"path":"fmt/"'],
  },
  {
    name: 'an edit of an agent that broke a page',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(3, () => error('ReferenceError: totel is not defined', 'src/mine.ts:1:1')),
      ],
      network: routine(),
    },
    files: 'agent',
    severity: 'error',
    facts: [
      'totel is not defined',
      '"path":"src/mine.ts","change":"modified","by":"agent:ann"',
      '1 new console error(s), 1 file(s) changed',
    ],
  },
  {
    name: 'an edit of an agent that broke nothing',
    ...usual,
    after: { console: chatter(), network: routine() },
    files: 'agent',
    severity: 'clean',
    facts: ['1 file(s) changed', '"by":"agent:ann"', '"errors":[]'],
  },
  {
    name: 'a long walk through the page',
    ...usual,
    after: {
      console: chatter(),
      network: routine(),
      actions: repeat(45, (n) => clicked(`[data-testid=product-${n}]`)),
    },
    severity: 'clean',
    facts: ['"total_new":45', 'product-44', '"omitted":'],
  },
  {
    name: 'a form whose submit fails validation on the server',
    before: { network: [...routine(20), asked('/api/orders', 200)] },
    after: {
      console: chatter(),
      network: [...routine(), asked('/api/orders', 422)],
      actions: [
        ...repeat(6, (n) => ({
          type: 'typing',
          url: `${ORIGIN}/order`,
          target: `input[name=field${n}]`,
        })),
        clicked('button[type=submit]'),
      ],
    },
    severity: 'error',
    facts: ['{"path":"/api/orders","status":422,"previous_status":200}', 'button[type=submit]'],
  },
  {
    name: 'deprecation warnings of a new version of a library',
    ...usual,
    after: {
      console: [
        ...chatter(),
        ...repeat(8, (n) =>
          warning(
            `Warning: ${['componentWillMount', 'findDOMNode', 'defaultProps', 'legacy context'][n % 4] ?? ''} is deprecated and will be removed in the next major release`,
            'react-dom.development.js:73:30',
          ),
        ),
      ],
      network: routine(),
    },
    severity: 'warning',
    facts: [
      'componentWillMount is deprecated',
      'findDOMNode is deprecated',
      '4 new console warning(s)',
      '"count":2',
    ],
  },
  {
    name: 'a server that is gone',
    before: {
      network: routine(20),
      websocket: [{ event: 'open', url: 'ws://localhost:5173/live' }],
    },
    after: {
      console: [
        ...chatter(),
        ...repeat(30, () => error('TypeError: Failed to fetch', 'src/api/client.ts:20:9')),
      ],
      network: repeat(60, (n) => asked(PATHS[n % PATHS.length] ?? '/', 0)),
      websocket: [
        { event: 'close', url: 'ws://localhost:5173/live', close_code: 1006 },
        ...repeat(20, () => ({
          event: 'error',
          url: 'ws://localhost:5173/live',
          message: 'connection refused',
        })),
      ],
    },
    severity: 'error',
    facts: [
      '5 network failure(s)',
      '"path":"/api/cart","status":0',
      'Failed to fetch',
      'connection refused',
    ],
  },
  {
    name: 'rate limiting by the backend',
    before: { network: routine(20) },
    after: {
      console: [
        ...chatter(),
        ...repeat(25, (n) =>
          warning(`Too many requests, retrying in ${1000 + n * 100} ms`, 'src/api/retry.ts:9:5'),
        ),
      ],
      network: [...routine(40), ...repeat(30, () => asked('/api/prices', 429))],
    },
    severity: 'error',
    facts: [
      '{"path":"/api/prices","status":429,"previous_status":200}',
      'Too many requests',
      '"count":25',
    ],
  },
  {
    name: 'a failure that was there before and one that is new',
    before: { network: [...routine(20), asked('/api/legacy', 500), asked('/api/banner', 200)] },
    after: {
      console: chatter(300),
      network: [...routine(40), asked('/api/legacy', 500), asked('/api/banner', 503)],
    },
    severity: 'error',
    facts: ['{"path":"/api/banner","status":503,"previous_status":200}', '1 network failure(s)'],
    silent: ['/api/legacy'],
  },
];
