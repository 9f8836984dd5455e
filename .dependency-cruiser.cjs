/**
 * Who may import whom. One row per folder of src/; the reasons are in ARCHITECTURE.md.
 * A row to add when a folder is added, nothing else.
 */
const ADAPTERS = [
  'host',
  'watch',
  'git',
  'ledger',
  'journal',
  'files',
  'diff',
  'semantics',
  'archive',
  'telemetry',
];
const ALLOW = {
  core: [],
  ...Object.fromEntries(ADAPTERS.map((adapter) => [adapter, ['core']])),
  workspace: ['core'],
  api: ['core', 'workspace'],
  client: ['core', 'host', 'api'],
  cli: ['core', 'host', 'telemetry', 'client', 'api', 'daemon.ts', 'config.ts'],
};
const PURE = ['core', 'workspace'];
const under = (name) => (name.endsWith('.ts') ? `^src/${name}$` : `^src/${name}/`);

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...Object.entries(ALLOW).map(([folder, allowed]) => ({
      name: `${folder}-may-import-only-${allowed.join('-') || 'itself'}`,
      severity: 'error',
      from: { path: under(folder) },
      to: { path: '^src/', pathNot: [folder, ...allowed].map(under) },
    })),
    {
      name: 'every-folder-has-a-row',
      severity: 'error',
      from: {
        path: '^src/[^/]+/',
        pathNot: Object.keys(ALLOW).map(under),
      },
      to: {},
    },
    {
      name: 'pure-folders-do-no-io',
      severity: 'error',
      from: { path: PURE.map(under) },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?path(/posix)?$' },
    },
    {
      name: 'pure-folders-need-no-package-but-zod',
      severity: 'error',
      from: { path: PURE.map(under) },
      to: { path: 'node_modules/', pathNot: 'node_modules/zod/' },
    },
    {
      name: 'the-command-line-starts-light',
      comment:
        'A cold command must not pay for zod and the method table: only types, or a lazy import.',
      severity: 'error',
      from: { path: ['cli', 'client', 'config.ts'].map(under) },
      to: {
        path: ['^src/api/', '^src/daemon.ts$', 'node_modules/'],
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'only-the-entries-compose',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(daemon|index).ts$', '^src/cli/'] },
      to: { path: '^src/(daemon|config|index).ts$', pathNot: '^src/config.ts$' },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
};
