import { describe, expect, it } from '@jest/globals';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectsPerTest, REPOSITORY, temporaryFolder } from '../support/daemon-project.js';
import { editing } from '../support/edits.js';
import { isAlive, run, signal } from '../support/processes.js';
import { until } from '../support/until.js';
import { sharedWork, Work } from '../support/work.js';

interface Block {
  readonly kind: string;
  readonly id: string;
}
interface Event {
  readonly id: string;
  readonly action_type: string;
  readonly semantic_block: Block | null;
  readonly semantic_warning?: string;
  readonly semantic_files?: readonly {
    readonly path: string;
    readonly block: Block | null;
    readonly blocks?: readonly Block[];
    readonly warning?: string;
  }[];
}

const RUBRIC = `criteria:
  input_validation:
    weight: 1
  sql_parametrization:
    weight: 2
    text: use parameters
`;
const PYTHON = `import json


def validate_payload(data):
    if not data:
        return None
    return json.loads(data)


class Cart:
    size = 0

    def add(self, item):
        self.size += 1
        return item
`;
const SCRIPT = `export function total(prices) {
  return prices.reduce((a, b) => a + b, 0);
}

export class Basket {
  add(price) {
    this.prices.push(price);
  }
}
`;

type Files = Readonly<Record<string, string | Buffer | null>>;

/** One edit by one agent; answers the ids of its lines. */
async function change(work: Work, files: Files): Promise<readonly string[]> {
  const edit = editing(work);
  const started = await edit.start(Object.keys(files));
  work.put(files);
  return (await edit.finalize(started)).events;
}

async function allEvents(work: Work): Promise<readonly Event[]> {
  const { events } = await work.call<{ events: Event[] }>('history', { limit: 1000 });
  return events;
}

const isExamined = ({ semantic_warning: warning = '' }: Event): boolean =>
  !warning.includes('has not been examined yet');

/** Once nothing is left to derive. */
async function examined(work: Work): Promise<readonly Event[]> {
  let events: readonly Event[] = [];
  await until('all is derived', async () => {
    return (events = await allEvents(work)).every(isExamined);
  });
  return events;
}

async function eventOf(work: Work, files: Files): Promise<Event> {
  const ids = await change(work, files);
  const event = (await examined(work)).find(({ id }) => id === ids[0]);
  if (event === undefined) throw new Error('the edit left no event');
  return event;
}

const shown = (block: Block | null | undefined): string =>
  block ? `${block.kind}:${block.id}` : 'none';

describe('the block of a change', () => {
  const shared = sharedWork();

  async function block(path: string, before: string, after: string | null): Promise<string> {
    const work = shared();
    await work.fresh({ [path]: before });
    const event = await eventOf(work, { [path]: after });
    expect(event.semantic_warning).toBeUndefined();
    return shown(event.semantic_block);
  }

  const cases: readonly (readonly [string, string, string, string, string])[] = [
    ['function:validate_payload', 'a.py', PYTHON, 'return None', 'return {}'],
    ['method:Cart.add', 'a.py', PYTHON, 'self.size += 1', 'self.size += 2'],
    ['class:Cart', 'a.py', PYTHON, 'size = 0', 'size = 1'],
    ['module:a.py', 'a.py', PYTHON, 'import json', 'import json as json'],
    ['function:total', 'a.js', SCRIPT, 'a + b, 0', 'a + b, 1'],
    ['method:Basket.add', 'a.js', SCRIPT, 'push(price)', 'push(+price)'],
    ['function:total', 'src/a.ts', SCRIPT, 'a + b, 0', 'a + b, 1'],
    ['class:Basket', 'a.ts', SCRIPT, 'class Basket {', 'class Basket {\n  prices = [];'],
    ['yaml_path:/criteria/sql_parametrization/weight', 'r.yaml', RUBRIC, 'weight: 2', 'weight: 3'],
    ['json_path:/b/c', 'a.json', '{\n "a": 1,\n "b": {\n  "c": 1\n }\n}\n', '"c": 1', '"c": 2'],
  ];
  it.each(cases)('is %s (%s)', async (expected, path, ...[content, from, to]) => {
    expect(await block(path, content, content.replace(from, to))).toBe(expected);
  });

  it('is the path of the entry for a new entry in YAML, to the letter', async () => {
    const without = RUBRIC.slice(0, RUBRIC.indexOf('  sql_parametrization'));
    expect(await block('r.yaml', without, RUBRIC)).toBe('yaml_path:/criteria/sql_parametrization');
  });

  it('is what was there for lines that went, and for a file that went', async () => {
    const without = PYTHON.slice(PYTHON.indexOf('class Cart'));
    expect(await block('a.py', PYTHON, without)).toBe('module:a.py');
    const start = PYTHON.indexOf('def validate');
    const gone = PYTHON.slice(0, start) + PYTHON.slice(PYTHON.indexOf('class Cart'));
    expect(await block('a.py', PYTHON, gone)).toBe('function:validate_payload');
    expect(await block('a.py', PYTHON, null)).toBe('module:a.py');
    expect(await block('r.yaml', RUBRIC, null)).toBe('yaml_path:/criteria');
  });

  it('is the lines, and says so, in a language nobody knows and in broken syntax', async () => {
    const work = shared();
    await work.fresh({ 'a.txt': '1\n2\n3\n', 'b.json': '{\n"a": 1\n}\n' });
    const text = await eventOf(work, { 'a.txt': '1\ntwo\n3\n4\n' });
    expect(shown(text.semantic_block)).toBe('lines:2,4');
    expect(text.semantic_warning).toBe('a.txt is of no known language.');
    const broken = await eventOf(work, { 'b.json': '{\n"a": 1\n"b": {{{\n' });
    expect(broken.semantic_block).not.toBeNull();
    expect(broken.semantic_warning).toContain('b.json');
  });

  it('is none, and says so, for what is no text or too much of it', async () => {
    const work = shared();
    await work.fresh({ 'a.png': Buffer.from([1, 0, 2]), 'b.py': 'x = 1\n' });
    const binary = await eventOf(work, { 'a.png': Buffer.from([1, 0, 3]) });
    expect(binary).toMatchObject({ semantic_block: null, semantic_warning: 'a.png is binary.' });
    const large = await eventOf(work, { 'b.py': 'x = 1\n'.repeat(200_000) });
    expect(large).toMatchObject({
      semantic_block: null,
      semantic_warning: 'b.py is too large to be examined.',
    });
  });

  it('is known for each file of an event that tells of several', async () => {
    const work = shared();
    const names = Array.from({ length: 30 }, (_, n) => `m${String(n).padStart(2, '0')}.py`);
    await work.fresh(Object.fromEntries(names.map((name) => [name, PYTHON])));
    const changed = PYTHON.replace('return None', 'return []');
    work.put(Object.fromEntries(names.map((name) => [name, changed])));
    await work.save('many');
    const events = await examined(work);
    const many = events.find(({ action_type: type }) => type === 'edit_replace');
    expect(shown(many?.semantic_block)).toBe('function:validate_payload');
    expect(many?.semantic_files).toHaveLength(20);
    expect(many?.semantic_files?.[19]).toEqual({
      path: 'm19.py',
      block: { kind: 'function', id: 'validate_payload' },
    });
    expect(many?.semantic_warning).toBe('10 more files were not examined.');
  });

  it('holds all that changed; the innermost ones are told too', async () => {
    const work = shared();
    await work.fresh({ 'a.py': PYTHON });
    const both = PYTHON.replace('return None', 'return 0').replace('return item', 'return 0');
    const event = await eventOf(work, { 'a.py': both });
    expect(shown(event.semantic_block)).toBe('module:a.py');
    expect(event.semantic_files?.[0]?.blocks?.map(shown)).toEqual([
      'function:validate_payload',
      'method:Cart.add',
    ]);
  });

  it('is not in the ledger, whose line waits for nobody, and shown by the command line', async () => {
    const work = shared();
    await work.fresh({ 'a.py': PYTHON });
    const { id } = await eventOf(work, { 'a.py': PYTHON.replace('None', '{}') });
    const lines = readFileSync(work.project.path('ledger/events.jsonl'), 'utf8').split('\n');
    const line = lines.find((one) => one.includes(`"id":"${id}"`)) ?? '{}';
    expect((JSON.parse(line) as Event).semantic_block).toBeNull();
    const { stdout } = await work.project.cli(['history', 'a.py', '-n', '1']);
    expect(stdout).toContain('  a.py  function:validate_payload');
  });
});

const folder = (work: Work): string => work.project.path('ledger/blocks');

/** The numbers of the lines of which something is kept. */
function keptIds(work: Work): Set<number> {
  const names = existsSync(folder(work)) ? readdirSync(folder(work)) : [];
  const content = names.map((name) => readFileSync(join(folder(work), name), 'utf8')).join('');
  return new Set([...content.matchAll(/"seq":(\d+)/gu)].map(([, seq]) => Number(seq)));
}

describe('derived blocks', () => {
  const shared = sharedWork();

  async function busy(): Promise<{ work: Work; events: readonly Event[] }> {
    const work = shared();
    await work.fresh({ 'a.py': PYTHON, 'b.ts': SCRIPT, 'c.txt': '1\n', 'r.yaml': RUBRIC });
    for (let round = 0; round < 4; round += 1) {
      await change(work, {
        'a.py': PYTHON.replace('None', `${round}`),
        'b.ts': SCRIPT.replace('b, 0', `b, ${round + 1}`),
        'c.txt': `${round}\n`,
        'r.yaml': RUBRIC.replace('weight: 2', `weight: ${round + 3}`),
      });
    }
    return { work, events: await examined(work) };
  }

  it('are kept beside the ledger by a follower, without anybody asking', async () => {
    const work = shared();
    await work.fresh({ 'a.py': PYTHON });
    const [id = ''] = await change(work, { 'a.py': PYTHON.replace('None', '7') });
    await until('it is kept', () => keptIds(work).has(Number(id.slice(4))));
  });

  it('are the same after a restart, and after they were deleted or damaged', async () => {
    const { work, events } = await busy();
    const again = async (): Promise<readonly Event[]> => {
      await work.project.startDaemon();
      return examined(new Work(work.project, await work.project.socket()));
    };
    await work.project.cli(['stop']);
    expect(await again()).toEqual(events);
    await work.project.cli(['stop']);
    rmSync(folder(work), { recursive: true });
    expect(await again()).toEqual(events);
    await work.project.cli(['stop']);
    for (const name of readdirSync(folder(work))) {
      const path = join(folder(work), name);
      const bytes = readFileSync(path);
      for (let at = 150; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(path, bytes.subarray(0, -5));
    }
    expect(await again()).toEqual(events);
  });
});

async function killed({ project }: Work): Promise<void> {
  const { pid = 0 } = project.daemonFile() ?? {};
  signal(pid, 'SIGKILL');
  await until('it is gone', () => !isAlive(pid));
}

describe('a daemon that is killed while it derives', () => {
  const shared = sharedWork();

  it('goes on after the next start, with the same answers', async () => {
    let work = shared();
    await work.fresh({ 'a.py': PYTHON });
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      ids.push(...(await change(work, { 'a.py': PYTHON.replace('None', `${round}`) })));
      // Answered as soon as the work has begun, or not at all.
      void work.answer('history', { limit: 5 }).catch(() => undefined);
      await killed(work);
      await work.project.startDaemon();
      work = new Work(work.project, await work.project.socket());
    }
    await until('the follower has done them all', () => {
      const kept = keptIds(work);
      return ids.every((id) => kept.has(Number(id.slice(4))));
    });
    const events = (await examined(work)).filter(({ id }) => ids.includes(id));
    expect(events.map(({ semantic_block: one }) => shown(one))).toEqual(
      Array.from({ length: 5 }, () => 'function:validate_payload'),
    );
  });
});

describe('an installation without grammars', () => {
  const project = projectsPerTest();

  it('tells lines and what is missing, in the history, status and doctor', async () => {
    const here = project();
    const install = temporaryFolder();
    try {
      mkdirSync(join(install, 'node_modules'));
      cpSync(join(REPOSITORY, 'dist'), join(install, 'dist'), { recursive: true });
      cpSync(join(REPOSITORY, 'package.json'), join(install, 'package.json'));
      for (const name of readdirSync(join(REPOSITORY, 'node_modules'))) {
        if (name.startsWith('tree-sitter-')) continue;
        symlinkSync(join(REPOSITORY, 'node_modules', name), join(install, 'node_modules', name));
      }
      const cli = async <T>(words: readonly string[]): Promise<T> => {
        const main = join(install, 'dist/cli/main.js');
        const call = [process.execPath, main, '--root', here.root, '--json', ...words];
        return JSON.parse((await run(call)).stdout) as T;
      };
      await cli(['start']);
      const work = new Work(here, await here.socket());
      await work.fresh({ 'a.py': PYTHON, 'r.yaml': RUBRIC });
      const python = await eventOf(work, { 'a.py': PYTHON.replace('None', '{}') });
      expect(shown(python.semantic_block)).toBe('lines:6');
      expect(python.semantic_warning).toBe(
        'a.py was not examined: tree-sitter-python is not installed.',
      );
      const yaml = await eventOf(work, { 'r.yaml': RUBRIC.replace('weight: 1', 'weight: 9') });
      expect(shown(yaml.semantic_block)).toBe('yaml_path:/criteria/input_validation/weight');
      const { warnings } = await cli<{ warnings: string[] }>(['status']);
      expect(warnings.join()).toContain('tree-sitter-python is not installed');
      const { checks } = await cli<{ checks: { name: string; detail: string }[] }>(['doctor']);
      const grammars = checks.find(({ name }) => name === 'grammars');
      expect(grammars?.detail).toContain('tree-sitter-typescript is not installed');
      await cli(['stop']);
      // With the grammars back, what was told by lines is looked into again.
      await here.startDaemon();
      const again = await examined(new Work(here, await here.socket()));
      const found = again.find(({ id }) => id === python.id);
      expect(shown(found?.semantic_block)).toBe('function:validate_payload');
    } finally {
      await here.remove();
      rmSync(install, { recursive: true, force: true });
    }
  });
});
