/** Raised with every change of the tables: a journal with another number is made anew. */
export const SCHEMA = 1;

/** The name under which a connection sees the dialog's database. */
export const ATTACHED = 'j';

/** Key first: it finds the row again. The rest in the order of the table. */
export const COLUMNS = {
  sessions: [
    'session_name',
    'id',
    'ref_name',
    'status',
    'created_at',
    'closed_at',
    'approved_commit',
    'checkpoints_count',
    'branch_exists',
  ],
  dialog_branches: ['branch_type', 'ref_name', 'head_commit', 'valid'],
  dialog_file_edits: [
    'id',
    'dialog_id',
    'file',
    'diff',
    'checkpoint',
    'created_at',
    'message_index',
  ],
  messages: ['message_index', 'message_id', 'content', 'checkpoint', 'session', 'created_at'],
} as const;

export type ContentTable = keyof typeof COLUMNS;
export const CONTENT_TABLES = Object.keys(COLUMNS) as readonly ContentTable[];

interface Definition {
  readonly kind: 'TABLE' | 'INDEX';
  readonly name: string;
  readonly body: string;
}

const DEFINITIONS: readonly Definition[] = [
  {
    kind: 'TABLE',
    name: 'sessions',
    body: `(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_name TEXT UNIQUE,
    ref_name TEXT,
    status TEXT,
    created_at TEXT,
    closed_at TEXT,
    approved_commit TEXT,
    checkpoints_count INTEGER,
    branch_exists BOOLEAN DEFAULT 1
)`,
  },
  {
    kind: 'TABLE',
    name: 'dialog_branches',
    body: `(
    branch_type TEXT PRIMARY KEY,
    ref_name TEXT,
    head_commit TEXT,
    valid BOOLEAN
)`,
  },
  {
    kind: 'TABLE',
    name: 'dialog_file_edits',
    body: `(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dialog_id TEXT,
    file TEXT,
    diff TEXT,
    checkpoint TEXT,
    created_at TEXT,
    message_index INTEGER
)`,
  },
  {
    kind: 'INDEX',
    name: 'dialog_file_edits_by_time',
    body: 'ON dialog_file_edits (dialog_id, created_at)',
  },
  {
    kind: 'TABLE',
    name: 'messages',
    body: `(
    message_index INTEGER PRIMARY KEY,
    message_id TEXT UNIQUE,
    content TEXT,
    checkpoint TEXT,
    session TEXT,
    created_at TEXT
)`,
  },
  {
    kind: 'TABLE',
    name: 'meta',
    body: `(
    last_seq INTEGER,
    schema INTEGER,
    digest INTEGER
)`,
  },
];

/** Makes the tables in the attached database. */
export const CREATE = DEFINITIONS.map(
  ({ kind, name, body }) => `CREATE ${kind} ${ATTACHED}.${name} ${body};`,
).join('\n');

/** The same as SQLite keeps it: name -> statement. */
export const STORED: ReadonlyMap<string, string> = new Map(
  DEFINITIONS.map(({ kind, name, body }) => [name, `CREATE ${kind} ${name} ${body}`]),
);
