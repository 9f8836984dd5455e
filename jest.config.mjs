/** Tests run against the sources for units and against `dist` for everything that starts the daemon. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  // Types are checked by `npm run typecheck`; here only the syntax is stripped.
  transform: {
    '^.+\\.ts$': ['ts-jest', { useESM: true, diagnostics: false }],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // A server of it would outlive the tests, where it is installed for the bench.
  watchman: false,
  // Two cores: the daemon under test needs one of them. Three took as long.
  maxWorkers: 2,
  testTimeout: 60_000,
  // A test that leaks a handle must not hang the whole run.
  forceExit: true,
};
