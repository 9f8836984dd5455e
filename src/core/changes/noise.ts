import { z } from 'zod';

/** What is no news: rules that come with the product and rules of the project. */

export const NoiseCategory = z.enum(['console', 'network', 'websocket']);
export type NoiseCategory = z.output<typeof NoiseCategory>;

export const NoiseRule = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/u)
    .describe('A name of its own; lowercase letters, digits, "_" and "-".'),
  category: NoiseCategory,
  pattern: z
    .string()
    .min(1)
    .max(500)
    .describe('A regular expression without look-around and back references (RE2).'),
  reason: z.string().max(500).optional().describe('Why it means nothing.'),
});
export type NoiseRule = z.output<typeof NoiseRule>;

/** What a rule is held against. */
export interface Told {
  /** Message, or address. */
  readonly text: string;
  /** Where it comes from, of a message. */
  readonly source?: string | null;
}

type Matcher = (told: Told) => boolean;

/** Whether a text has what is looked for, in time that grows with the text alone. */
export type Matching = (pattern: string) => (text: string) => boolean;

export interface NoiseFilter {
  /** The rule that silences it. */
  find(category: NoiseCategory, told: Told): string | undefined;
}

const built = (category: NoiseCategory, id: string, rest: readonly [string, string]): NoiseRule => {
  return { id: `builtin-${id}`, category, pattern: rest[0], reason: rest[1] };
};

const ANALYTICS =
  '(google-analytics|googletagmanager|analytics\\.google|doubleclick|segment\\.(io|com)|hotjar|mixpanel|amplitude|fullstory|clarity\\.ms|posthog|plausible\\.io|heap(analytics|-api)|connect\\.facebook|newrelic|nr-data|bugsnag|ingest\\.(us\\.|de\\.)?sentry)';
const EXTENSION = '^(chrome|moz|safari-web|ms-browser)-extension://';

/** Extensions, tools of development and counters of visits: nothing that the project did. */
export const BUILT_IN: readonly NoiseRule[] = [
  built('console', 'extension', [EXTENSION, 'browser extensions']),
  built('console', 'hmr', [
    '^\\[(HMR|vite|webpack-dev-server|WDS|Fast Refresh|turbopack)\\] .*(connect|cannot apply update|not accepted|full.reload|hot updated|waiting for update)',
    'hot reloading',
  ]),
  built('console', 'react-devtools', ['Download the React DevTools', 'an advertisement']),
  built('console', 'vue-devtools', ['Download the Vue Devtools', 'an advertisement']),
  built('console', 'angular-dev', ['Angular is running in (the )?development mode', 'a greeting']),
  built('console', 'source-map', [
    'DevTools failed to load source ?map|^Source ?map error',
    'source maps of others',
  ]),
  built('console', 'analytics', [`https?://[^/ ]*${ANALYTICS}`, 'counters of visits']),
  built('console', 'blocked', ['net::ERR_BLOCKED_BY_CLIENT', 'an ad blocker']),
  built('console', 'third-party-cookies', ['third-party cookie', 'an announcement of the browser']),
  built('console', 'lighthouse', ['\\[Violation\\]', 'advice of the browser']),
  built('network', 'extension', [EXTENSION, 'browser extensions']),
  built('network', 'favicon', [
    '/favicon\\.(ico|svg|png)([?#]|$)',
    'asked for by the browser itself',
  ]),
  built('network', 'devtools', [
    '/\\.well-known/appspecific/com\\.chrome\\.devtools',
    'asked for by the browser itself',
  ]),
  built('network', 'source-map', ['\\.(js|mjs|css)\\.map([?#]|$)', 'asked for by developer tools']),
  built('network', 'hmr', [
    '(\\.hot-update\\.(js|json)|/@vite/client|/__webpack_hmr|/_next/webpack-hmr|/__vite_ping)',
    'hot reloading',
  ]),
  built('network', 'analytics', [`^https?://[^/]*${ANALYTICS}`, 'counters of visits']),
  built('websocket', 'hmr', [
    '(/_next/webpack-hmr|/__webpack_hmr|/sockjs-node|/_nuxt/)',
    'hot reloading',
  ]),
  built('websocket', 'extension', [EXTENSION, 'browser extensions']),
];

/** Rules of the project come first: their names are the more telling ones. */
export function createNoiseFilter(rules: readonly NoiseRule[], matching: Matching): NoiseFilter {
  const compiled = rules.map(({ id, category, pattern }) => {
    const matches = matching(pattern);
    const isNoise: Matcher = ({ text, source }) =>
      matches(text) || (typeof source === 'string' && matches(source));
    return { id, category, isNoise };
  });
  return {
    find(category, told) {
      return compiled.find((one) => one.category === category && one.isNoise(told))?.id;
    },
  };
}
