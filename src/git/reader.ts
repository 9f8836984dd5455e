import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { SmithyError } from '../core/errors.js';
import type { Hash } from '../core/model.js';
import { gitFailure } from './failures.js';
import { requireId } from './names.js';
import type { Git } from './run.js';

export interface GitObject {
  readonly type: string;
  readonly size: number;
  /** Empty for a mere look. */
  readonly bytes: Buffer;
}

/** Objects by id, from one long-lived `cat-file`. */
export interface Reader {
  /** undefined when the store has no such object. */
  read(id: string): Promise<GitObject | undefined>;
  look(id: string): Promise<GitObject | undefined>;
  /** The next question gets a fresh child, which sees the packs as they are then. */
  restart(): void;
}

interface Question {
  readonly word: 'contents' | 'info';
  readonly id: string;
  tries: number;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** Larger content is for `streamBlob`. */
const MOST_BYTES = 64 * 1024 * 1024;
const SILENCE_MS = 60_000;

export function createReader(git: Git): Reader {
  let current: ReturnType<typeof startReader> | undefined;

  function ask(question: Question): void {
    if (current?.isAlive() !== true) {
      const started = startReader(git, (left, stderr) => {
        if (current === started) current = undefined;
        // Whatever killed it need not kill the next one; twice is a pattern.
        for (const one of left) {
          if (++one.tries < 2) askAgain(one);
          else one.reject(gitFailure('cat-file', stderr));
        }
      });
      current = started;
    }
    current.ask(question);
  }

  /** In a handler of an event, where nobody would catch it. */
  function askAgain(question: Question): void {
    try {
      ask(question);
    } catch (error) {
      question.reject(error as Error);
    }
  }

  const put = (word: Question['word'], id: string): Promise<GitObject | undefined> =>
    new Promise((resolve, reject) => ask({ word, id, tries: 0, resolve, reject }));

  return {
    read: (id) => put('contents', id),
    look: (id) => put('info', id),
    restart() {
      current?.end();
      current = undefined;
    },
  };
}

/** One child and the questions it has not answered yet. */
function startReader(git: Git, onEnd: (left: Question[], stderr: string) => void) {
  const child: ChildProcessWithoutNullStreams = git.start(['cat-file', '--batch-command']);
  const open = createLine();
  const answers = createAnswers(open);
  let stderr = '';
  let isAlive = true;
  let timer: NodeJS.Timeout | undefined;
  let unsent = '';

  const send = (): void => {
    if (unsent !== '') child.stdin.write(unsent);
    unsent = '';
  };
  const watch = (): void => {
    clearTimeout(timer);
    timer = open.count() === 0 ? undefined : setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
  };
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString()).slice(-4096)));
  child.stdout.on('data', (bytes: Buffer) => {
    answers.take(bytes);
    watch();
  });
  const ended = (): void => {
    if (!isAlive) return;
    isAlive = false;
    clearTimeout(timer);
    onEnd(open.takeAll(), stderr);
  };
  child.on('error', ended);
  child.on('close', ended);
  return {
    isAlive: () => isAlive,
    ask(question: Question) {
      open.push(question);
      // Questions of one turn travel together: a write for each cost more than the answers.
      if (unsent === '') setImmediate(send);
      unsent += `${question.word} ${question.id}\n`;
      if (open.count() === 1) watch();
    },
    end() {
      send();
      child.stdin.end();
    },
  };
}

const CUT_AT = 1_024;

/** Questions in their order. `shift` of an array moves all others, and 100,000 may be waiting. */
function createLine() {
  let all: Question[] = [];
  let head = 0;
  return {
    count: () => all.length - head,
    first: () => all[head],
    push: (question: Question) => void all.push(question),
    shift(): Question | undefined {
      const first = all[head++];
      if (head > CUT_AT && head * 2 > all.length) {
        all = all.slice(head);
        head = 0;
      }
      return first;
    },
    takeAll(): Question[] {
      const left = all.slice(head);
      all = [];
      head = 0;
      return left;
    },
  };
}

/** Cuts the child's output into answers: a line, and for contents that many bytes and a line end. */
function createAnswers(open: ReturnType<typeof createLine>) {
  let parts: Buffer[] = [];
  let length = 0;
  let body: { type: string; size: number } | undefined;
  let skip = 0;

  function join(): Buffer {
    const joined = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    parts = [joined];
    return joined;
  }

  function drop(count: number): Buffer {
    const joined = join();
    parts = [joined.subarray(count)];
    length -= count;
    return joined.subarray(0, count);
  }

  function takeHead(): boolean {
    const end = join().indexOf('\n');
    if (end === -1) return false;
    const [, type = '', size] = drop(end + 1)
      .toString('utf8', 0, end)
      .split(' ');
    const question = open.first();
    if (size === undefined) open.shift()?.resolve(undefined);
    else if (question?.word === 'info') {
      open.shift()?.resolve({ type, size: Number(size), bytes: Buffer.alloc(0) });
    } else if (Number(size) > MOST_BYTES) {
      skip = Number(size) + 1;
      open.shift()?.reject(tooLarge(question?.id ?? '', Number(size)));
    } else body = { type, size: Number(size) };
    return true;
  }

  function takeBody({ type, size }: { type: string; size: number }): boolean {
    if (length < size + 1) return false;
    const bytes = Buffer.from(drop(size + 1).subarray(0, size));
    body = undefined;
    open.shift()?.resolve({ type, size, bytes });
    return true;
  }

  return {
    take(bytes: Buffer): void {
      const skipped = Math.min(skip, bytes.length);
      skip -= skipped;
      if (skipped === bytes.length) return;
      parts.push(bytes.subarray(skipped));
      length += bytes.length - skipped;
      while (length > 0 && (body === undefined ? takeHead() : takeBody(body))) {
        const more = Math.min(skip, length);
        skip -= more;
        if (more > 0) drop(more);
      }
    },
  };
}

function tooLarge(id: string, size: number): SmithyError {
  return new SmithyError('LIMIT_EXCEEDED', `The content ${id} has ${size} bytes.`, {
    hint: 'Read it as a stream.',
    data: { limit: 'blob_bytes', value: MOST_BYTES, size },
  });
}

/** What the store does not have is left out. */
export async function lengthsOf(
  reader: Pick<Reader, 'look'>,
  hashes: readonly Hash[],
): Promise<Map<Hash, number>> {
  const found = await Promise.all(hashes.map((hash) => reader.look(requireId(hash))));
  return new Map(
    hashes.flatMap((hash, number) => {
      const object = found[number];
      return object === undefined ? [] : [[hash, object.size]];
    }),
  );
}
