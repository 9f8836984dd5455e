import { describe, expect, it } from '@jest/globals';
import { createRedactor } from '../../src/core/redaction/redactor.js';
import { redactLine } from '../../src/core/redaction/lines.js';
import type { NewEvent } from '../../src/core/ledger.js';
import { finding } from '../../src/telemetry/safe-patterns.js';

const redact = createRedactor();
/** Made up, and put together here so that no scanner takes this file for a leak. */
const join = (...parts: string[]): string => parts.join('');
const R36 = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';
const GITHUB = join('ghp', '_', R36);
const JWT = join(
  'eyJ',
  'hbGciOiJIUzI1NiJ9.',
  'eyJ',
  'zdWIiOiIxMjM0NTY3ODkwIn0.',
  'dozjgNryP4J3jVmNHl0w5N',
);
const KEY_BODY = `${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n${'q83vEjRWeJASNFZ4kBI0VniQEjRWeJAS'.repeat(2)}\nAbCd==`;
const PRIVATE_KEY = `-----BEGIN RSA PRIVATE KEY-----\n${KEY_BODY}\n-----END RSA PRIVATE KEY-----`;

describe('a secret of a well-known shape is taken out', () => {
  const secrets: readonly (readonly [string, string])[] = [
    ['aws-key', join('AK', 'IAQWERTYUIOP123456')],
    ['github-token', GITHUB],
    ['github-token', join('github', '_pat_', '11ABCDEFG0', R36, '_', R36)],
    ['gitlab-token', join('gl', 'pat-', 'x1Y2z3A4b5C6d7E8f9G0')],
    ['slack-token', join('xo', 'xb-', '123456789012-123456789012-AbCdEfGhIjKl')],
    ['slack-webhook', join('hooks.slack', '.com/services/', 'T0000AAAA/B0000BBBB/abcDEF123456')],
    ['stripe-key', join('sk', '_live_', '51H8xYzAbCdEfGhIjKlMnOp')],
    ['anthropic-key', join('sk', '-ant-', 'api03-', R36)],
    ['openai-key', join('sk', '-proj-', R36, R36)],
    ['openai-key', join('sk', '-', R36, 'abcdefghijkl')],
    ['npm-token', join('npm', '_', R36)],
    ['google-key', join('AI', 'za', 'SyA1234567890abcdefghijklmnopqrstuv')],
    ['azure-secret', join('abc8', 'Q~', 'a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6')],
    ['huggingface-token', join('hf', '_', R36)],
    ['jwt', JWT],
    ['private-key', PRIVATE_KEY],
    ['private-key', PRIVATE_KEY.replaceAll('\n', '\\n')],
  ];

  it.each(secrets)('%s', (kind, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['use ', ' please'],
      ['"', '"'],
      ['(', ').'],
      ['x=', ''],
    ]) {
      const { text, kinds } = redact(`${before}${secret}${after}`);
      expect(text).toBe(`${before}[redacted:${kind}:1]${after}`);
      expect(kinds).toEqual([kind]);
    }
  });

  it('and so is a key whose last line is missing, as far as it looks like one', () => {
    const cut = PRIVATE_KEY.slice(0, PRIVATE_KEY.indexOf('\nAbCd'));
    expect(redact(`key: ${cut}\nand then words`).text).toBe(
      'key: [redacted:private-key:1]\nand then words',
    );
  });

  it.each([
    ['https://ann:s3cr3t@host/x', 'https://ann:[redacted:url-password:1]@host/x'],
    ['postgres://u:p%40ss@db:5432/x', 'postgres://u:[redacted:url-password:1]@db:5432/x'],
    ['https://0123456789abcdef0123@host', 'https://[redacted:url-password:1]@host'],
    ['Authorization: Bearer abcdefgh', 'Authorization: Bearer [redacted:authorization:1]'],
    [
      "-H 'Authorization: Basic dXNlcjpwYXNz'",
      "-H 'Authorization: Basic [redacted:authorization:1]'",
    ],
    ['Bearer 0123456789abcdefXYZ', 'Bearer [redacted:authorization:1]'],
    ['password=correcthorse', 'password=[redacted:password:1]'],
    ['DB_PASSWORD="correct horse battery"', 'DB_PASSWORD="[redacted:password:1]"'],
    ['{"api_key": "abcdefgh1234"}', '{"api_key": "[redacted:key:1]"}'],
    ['{\\"clientSecret\\":\\"abcdefgh1234\\"}', '{\\"clientSecret\\":\\"[redacted:secret:1]\\"}'],
    [
      'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG',
      'aws_secret_access_key = [redacted:secret:1]',
    ],
    ['AccountKey=abcd1234efgh5678==;Endpoint=x', 'AccountKey=[redacted:key:1];Endpoint=x'],
    ['login --token abcdefgh1234 now', 'login --token [redacted:token:1] now'],
    ['?token=abcdefgh1234&x=1', '?token=[redacted:token:1]&x=1'],
    ['my password: hunter2hunter2.', 'my password: [redacted:password:1].'],
  ])('%s', (given, expected) => {
    expect(redact(given).text).toBe(expected);
    expect(redact(expected)).toMatchObject({ text: expected, kinds: [] });
  });

  it('in base64, in lines of it, in hex, in escapes, and with signs of no width in it', () => {
    const base64 = Buffer.from(`token ${GITHUB} is it`).toString('base64');
    const long = Buffer.from(`${'words before it. '.repeat(10)}${GITHUB}`).toString('base64');
    const wrapped = (long.match(/.{1,76}/gu) ?? []).join('\n');
    const hex = Buffer.from(GITHUB).toString('hex');
    const escaped = Array.from(GITHUB, (sign) => `%${sign.charCodeAt(0).toString(16)}`).join('');
    const written = escaped.replaceAll('%', '\\u00');
    for (const hidden of [
      base64,
      wrapped,
      hex,
      escaped,
      written,
      `${GITHUB.slice(0, 9)}\u200B${GITHUB.slice(9)}`,
    ]) {
      expect(redact(`see ${hidden} there`).text).toBe('see [redacted:github-token:1] there');
    }
    expect(redact('to=postgres%3A%2F%2Fu%3Ahunter2%40db').kinds).toEqual(['url-password']);
  });

  it('with one number for each secret of a text', () => {
    const other = GITHUB.replace('a1', 'b2');
    expect(redact(`${GITHUB} ${other} ${GITHUB}`).text).toBe(
      '[redacted:github-token:1] [redacted:github-token:2] [redacted:github-token:1]',
    );
  });
});

describe('what is no secret stays to the letter', () => {
  it.each([
    ['a git hash', 'fixed in 9cd3f69c0f1e2d3c4b5a69788796a5b4c3d2e1f0, see a1b2c3d'],
    ['a SHA-256', `sha256:${'0123456789abcdef'.repeat(4)}`],
    ['a ULID', 'edit 01ARZ3NDEKTSV4RRFFQ69G5FAV of evt-000123'],
    ['a UUID', 'run 123e4567-e89b-12d3-a456-426614174000'],
    [
      'a picture',
      `data:image/png;base64,${Buffer.from(Array.from({ length: 3000 }, (_, n) => (n * 7919) % 251)).toString('base64')}`,
    ],
    [
      'prose about passwords',
      'The password must be longer. A secret: never share it. Token: authentication is next.',
    ],
    [
      'code',
      'const token = getToken(); password = process.env.PASSWORD; secret: string; apiKey={config.apiKey}',
    ],
    [
      'names of things',
      'tokenizer: bert-base-v2, secretary: Ann-Marie2, token_type=bearer_tokens, SECRET_NAME=prod-db-1',
    ],
    ['counts', 'max_tokens=128000000 total_tokens: 12345678'],
    [
      'placeholders',
      'password=$PASSWORD token=${{ secrets.TOKEN }} api_key=<your-key> secret=******** key https://u:$PW@h',
    ],
    [
      'addresses',
      'https://example.com:8080/@scope/name?x=1 git@github.com:a/b.git ssh://git@host:22/x mailto:a@b.c',
    ],
    [
      'words like prefixes',
      'sk-learn task-runner-thing npm_config_registry eyJust AKIA hf_hub_download ghp_short',
    ],
    [
      'headers in prose',
      'Authorization: required for everything. The bearer of authentication-information decides.',
    ],
    ['a word about keys', 'between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----'],
    ['a working folder', 'PWD=/home/ann/project1'],
    [
      'long names',
      'getChangesSinceTheLastTimeSomebodyLookedAtThem src/workspace/very-long-file-name-indeed.test.ts',
    ],
  ])('%s', (_, text) => {
    expect(redact(text)).toMatchObject({ text, kinds: [] });
  });
});

describe('the work', () => {
  const SIZE = 200_000;
  const filled = (piece: string): string => piece.repeat(Math.ceil(SIZE / piece.length));

  it.each([
    ...['ghp_', 'eyJ', '-eyJ', '.eyJ.', 'sk-proj-', '_sk-', 'AKIA', '-----BEGIN PRIVATE KEY-----'],
    ...['-----BEGIN A PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w', 'a://b:', '://', '://a@', 'token='],
    ...['token:', 'token: ', 'token: "', 'token="x y\' ', 'pwd:pwd=', 'authorization=', 'Bearer '],
    ...[
      'authorization: bearer ',
      '%41',
      'token%3d',
      `${'A'.repeat(76)}\n`,
      'a b ',
      'passwordpassword',
    ],
    ...['\\x41', '-', '--', ' --token', 'Q~', 'aaa1Q~', 'a@', 'a@a.', '4 ', '4-'],
  ])('grows with the length of hostile texts and with nothing else: %j', (piece) => {
    const careful = createRedactor({ personal: ['email', 'card'] });
    for (const tail of ['', '.'.repeat(SIZE), ':'.repeat(SIZE)]) {
      const text = filled(piece) + tail;
      expect(careful(text).steps).toBeLessThan(300 * text.length);
    }
  });
});

describe('a policy', () => {
  it('takes personal things out only when asked', () => {
    const text = 'ann.b@example.org paid with 4111 1111 1111 1111 and not 4111111111111112';
    expect(redact(text).kinds).toEqual([]);
    expect(createRedactor({ personal: ['email', 'card'] })(text).text).toBe(
      '[redacted:email:1] paid with [redacted:card:2] and not 4111111111111112',
    );
  });

  it('adds patterns of its own, and a pattern that fails leaves nothing of the text', () => {
    const own = createRedactor({ own: [finding('ACME-[0-9]+')] });
    expect(own('for ACME-12345 only').text).toBe('for [redacted:own:1] only');
    expect(own('ACME-1').text).toBe('[redacted:own:1]');
    const broken = createRedactor({
      own: [
        () => {
          throw new Error('no');
        },
      ],
    });
    expect(broken('whatever it is').text).toBe('[redacted:own:1]');
  });
});

describe('a line', () => {
  const line = (more: object): NewEvent => ({
    ...{ ts: '2026-11-18T00:00:00.000Z', action_type: 'meta_note' as const },
    author: { name: 'ann', version: null, kind: 'agent' },
    ...more,
  });

  it('keeps paths, hashes and ids whatever they look like', () => {
    const path = `notes/password=hunter2222/${GITHUB}`;
    const given = line({
      files: [path],
      changes: [{ path, before: null, after: 'a'.repeat(40) }],
      moves: { [path]: path },
      edit: { id: 'x', what: 'started', before: [[path, null]], newFolders: [path] },
      ...{ known: [[path, null]], saved: [{ path }], skipped: [path], exported: path },
    });
    expect(redactLine(given, redact).line).toBe(given);
  });

  it('loses secrets in words, keys of words included, and says which kinds', () => {
    const { line: clean } = redactLine(
      line({
        rationale: `use ${GITHUB}`,
        by: `agent:${GITHUB}`,
        eval: { name: 'e', metrics: { [GITHUB]: 1 }, report: JWT },
        edit: { id: 'x', what: 'started', facts: { tool: `curl ${GITHUB}`, agent: { name: JWT } } },
        marked: {
          cursor: 'c',
          url: `https://x/?t=${JWT}`,
          endpoints: { [`/v/${JWT}`]: { status: 1 } },
        },
        something_new: [`token=${GITHUB}`],
      }),
      redact,
    );
    const text = JSON.stringify(clean);
    expect(text).not.toContain(R36);
    expect(text).not.toContain('dozjgNryP4J3');
    expect(clean['redacted']).toEqual(['github-token', 'jwt']);
    expect(clean.rationale).toBe('use [redacted:github-token:1]');
  });

  it('is refused when a name looks like a secret, unless the name is being removed', () => {
    const named = line({ bookmark: GITHUB, bookmarked: { what: 'added', id: 'evt-000001' } });
    expect(redactLine(named, redact).badName).toEqual({ member: 'bookmark', kind: 'github-token' });
    const removed = line({ bookmark: GITHUB, bookmarked: { what: 'removed', id: 'evt-000001' } });
    expect(redactLine(removed, redact).badName).toBeUndefined();
  });
});
