/**
 * Attacks of the threat model that tests beside their code show already, each by the title of a test in its
 * file, and those that have nothing to attack in this product yet, each with the reason.
 */
export const TESTS = [
  [
    'T2',
    'variables, hooks, signing and templates around a store',
    'test/git/hostile.test.ts',
    'runs nothing and keeps bytes as they are',
  ],
  [
    'T6',
    'a configuration of the hidden repository changed while the daemon runs',
    'test/git/hostile.test.ts',
    'does not believe a configuration that was changed while it runs',
  ],
  [
    'T8',
    'nested repositories and submodules, clean, dirty or missing',
    'test/e2e/checkpoints.test.ts',
    '44: submodules, clean, dirty or not there, are content',
  ],
  [
    'T9',
    'a link out of the root',
    'test/e2e/checkpoints.test.ts',
    '22: a link out of the root is stored as a link and never followed',
  ],
  [
    'T9',
    'a folder swapped for a link while it is read',
    'test/watch/swapped.test.ts',
    'never lends its content to the project, however often it is swapped back and forth',
  ],
  [
    'T11',
    'a folder swapped for a link thousands of times below the writer',
    'test/files/race.test.ts',
    '23: lets nothing out of the root',
  ],
  ['T12', 'spellings that file systems fold into .git', 'test/core/paths.test.ts', 'is protected'],
  [
    'T13',
    'names in the live feed',
    'test/e2e/feed.test.ts',
    'lets no file name steer the terminal',
  ],
  [
    'T13',
    'the name of the project folder',
    'test/e2e/cli.test.ts',
    'cannot be steered by the name of a folder',
  ],
  [
    'T14',
    'attributes for line ends, keywords and encodings',
    'test/e2e/checkpoints.test.ts',
    '31: attributes that convert have no effect on what is kept',
  ],
  [
    'T15',
    'a file that was ignored at the checkpoint',
    'test/e2e/restore.test.ts',
    '35: deletes no file that was ignored at the checkpoint',
  ],
  [
    'T16',
    'ignore patterns that explode',
    'test/watch/rules.test.ts',
    'is not stalled by hostile patterns, and says which it gave up',
  ],
  [
    'T16',
    'code and data made to stall the parsers',
    'test/semantics/hostile.test.ts',
    'gives an answer for a thousand brackets',
  ],
  [
    'T17',
    'many files, over the ceiling of the store',
    'test/e2e/scenarios.test.ts',
    'over the ceiling of the store are refused by its name',
  ],
  [
    'T19',
    'no setting can name a command',
    'test/e2e/config.test.ts',
    'because each is a number or none, a switch, a choice, or a list of patterns or names',
  ],
  [
    'T21',
    'another user connects to the socket',
    'test/e2e/other-user.test.ts',
    'cannot connect to the socket, while its owner can',
  ],
  [
    'T21',
    'the same with the folders opened by mistake',
    'test/e2e/other-user.test.ts',
    'cannot connect even when somebody opened the folders',
  ],
  [
    'T21',
    'a state folder that others can write to',
    'test/e2e/refusals.test.ts',
    'when others can write to it',
  ],
  [
    'T22',
    'another user is first to take the place of the state folder',
    'test/e2e/other-user.test.ts',
    'cannot take the place of the state folder first',
  ],
  [
    'T22',
    'a socket of another user where daemon.json says',
    'test/e2e/other-user.test.ts',
    'is not talked to when its socket is in the place daemon.json names',
  ],
  [
    'T23',
    'a socket path of more than 100 bytes',
    'test/e2e/refusals.test.ts',
    'moves the socket to a private folder, and a stop takes both away',
  ],
  [
    'T26',
    'token and code in command lines and log',
    'test/e2e/http.test.ts',
    'leaves neither token nor code in a command line or in the log',
  ],
  [
    'T27',
    'links in a state folder that came with the project',
    'test/e2e/refusals.test.ts',
    'is a link that leads out of it',
  ],
  [
    'T28',
    'a root of another user',
    'test/e2e/refusals.test.ts',
    'is refused when it belongs to another user',
  ],
  [
    'T30',
    'foreign names, ports and users in the Host header',
    'test/e2e/http-hostile.test.ts',
    'with a name that was bound to loopback',
  ],
  [
    'T31',
    'forms, plain text and bodies of no type',
    'test/e2e/http-hostile.test.ts',
    'is answered 415',
  ],
  [
    'T32',
    'events for a foreign page',
    'test/e2e/http-hostile.test.ts',
    'with events for a foreign page',
  ],
  [
    'T33',
    'an address beyond loopback',
    'test/e2e/http.test.ts',
    'never make it listen on more than loopback',
  ],
  [
    'T34',
    'the token in an address or a cookie',
    'test/e2e/http-hostile.test.ts',
    'with the token in the address',
  ],
  [
    'T36',
    'a byte flipped in every class of file',
    'test/e2e/verify.test.ts',
    'names the file of every class in which a byte was flipped',
  ],
  [
    'T36',
    'a line of the ledger changed, its end cut off',
    'test/e2e/doctor.test.ts',
    'names a line of the ledger that was changed',
  ],
  ['T36', 'a branch moved by hand', 'test/e2e/doctor.test.ts', 'sees a branch that somebody moved'],
  [
    'T37',
    'edits while the daemon was down',
    'test/e2e/watching.test.ts',
    '74: finds edits made while it was down and calls them offline',
  ],
  ['T37', 'the socket deleted', 'test/e2e/life.test.ts', 'a deleted socket file comes back'],
  [
    'T39',
    'instructions in file names and diffs read by a model',
    'test/e2e/mcp.test.ts',
    'reads what happened, the session and a diff as text whose quotations cannot be left',
  ],
  [
    'T39',
    'text that would leave its quotation',
    'test/core/untrusted-text.test.ts',
    'cannot end the block it is quoted in',
  ],
  [
    'T40',
    'an edit of the same size with its old time put back',
    'test/watch/directories.test.ts',
    'finds an edit of the same size with the old time put back',
  ],
  [
    'T40',
    'an edit through another hard link',
    'test/watch/special.test.ts',
    'are followed through every other name they have',
  ],
  [
    'T41',
    'secrets in messages, rationales, notes, names and telemetry, looked for in every stored byte',
    'test/e2e/redaction.test.ts',
    'are nowhere on the disk, whichever way they came',
  ],
  [
    'T41',
    'secrets in base64, hex, escapes and with signs of no width',
    'test/core/redaction.test.ts',
    'in base64, in lines of it, in hex, in escapes, and with signs of no width in it',
  ],
  [
    'T41',
    'texts made to stall the search for secrets',
    'test/core/redaction.test.ts',
    'grows with the length of hostile texts and with nothing else',
  ],
  [
    'T42',
    'what a daemon hands on of its environment',
    'test/e2e/life.test.ts',
    'hands on nothing of a hostile environment',
  ],
  [
    'T43',
    'a client that holds files and goes silent',
    'test/e2e/edits.test.ts',
    'goes on when it is detached, until its time is over; then it can still be settled',
  ],
  [
    'T43',
    'a client that holds files and dies',
    'test/e2e/edits.test.ts',
    'is taken back at once when it was connected',
  ],
  [
    'T43',
    'more open edits than one client may have',
    'test/e2e/edits.test.ts',
    'names the limit of open edits for one client',
  ],
  [
    'T45',
    'ten thousand hostile frames',
    'test/e2e/fuzz.test.ts',
    'neither end the daemon, nor fill its memory, nor disturb honest clients',
  ],
  [
    'T45',
    'frames that never end',
    'test/e2e/limits.test.ts',
    'is cut off when it never ends a frame that is too large',
  ],
  [
    'T45',
    'a reader that does not read',
    'test/e2e/sse.test.ts',
    'is dropped and counted; its buffer is bounded and the others miss nothing',
  ],
  [
    'T46',
    'the checkpoint of another dialog',
    'test/e2e/restore.test.ts',
    'checkpoints of another dialog are not this dialog',
  ],
  [
    'T48',
    'prototype keys as methods and parameters',
    'test/e2e/wire.test.ts',
    'never shows the inside of the daemon',
  ],
  [
    'T48',
    'prototype keys in settings',
    'test/core/settings.test.ts',
    'cannot reach the prototype of anything',
  ],
  [
    'T49',
    'a cursor of another life or stream',
    'test/e2e/sse.test.ts',
    'says that something may be missing after a cursor it does not know',
  ],
  [
    'T49',
    'events of one dialog asked for by a reader of another',
    'test/e2e/sse.test.ts',
    'of one dialog leaves out those of others',
  ],
  [
    'T54',
    'archives with hostile paths, links, sizes and digests, the one thing that is imported',
    'test/archive/archives.test.ts',
    'that is no zstd, is cut off or was changed anywhere is refused',
  ],
].map(([id, what, file, test]) => ({ id, what, file, test }));

/** Not defended against, or nothing to attack yet. */
export const OPEN = [
  {
    id: 'T29',
    reason:
      'owner and mode of a file are not written into the event; the change itself is named as unknown',
  },
  {
    id: 'T35',
    reason:
      'whoever has the socket may approve: roles exist for models (MCP) only, not for programs of the same user',
  },
  {
    id: 'T41',
    reason:
      'a secret of no known shape, in two messages, encoded twice or by hand is kept; so is what was written before redaction came',
  },
  {
    id: 'T46',
    reason: 'there is one credential for one user, so handles are not bound to a caller',
  },
  { id: 'T54', reason: 'there are no replay cassettes yet' },
  { id: 'T55', reason: 'swap and a debugger of the same user are out of reach' },
  {
    id: 'T56',
    reason:
      'a restore does not ask again before it writes files that other programs execute by themselves',
  },
];
