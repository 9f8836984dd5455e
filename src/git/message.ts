import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { CommitId, Path } from '../core/model.js';
import type { Commit } from '../core/store.js';

const FOLDERS = 'Empty-Folders';
const PACKED = 'deflate:';
/** A longer list is worth compressing. */
const LONG = 2000;
/** What a list may grow to when it is read back. */
const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The text of a commit: the message, an empty line, the trailers. The last paragraph is always
 * ours, so nothing a user types can pass for a trailer.
 */
export function toText(
  message: string,
  trailers: Readonly<Record<string, string>>,
  emptyFolders: readonly Path[],
): string {
  const all = emptyFolders.length === 0 ? trailers : { ...trailers, [FOLDERS]: pack(emptyFolders) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${oneLine(value)}`);
  // Git ends a message at a NUL, and fsck complains about it.
  return `${message.replaceAll('\0', '\ufffd').trimEnd()}\n\n${lines.join('\n')}\n`;
}

function oneLine(value: string): string {
  return value.replace(/[\0\r\n]+/gu, ' ');
}

function pack(folders: readonly Path[]): string {
  const plain = JSON.stringify(folders).replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return plain.length < LONG ? plain : PACKED + deflateRawSync(plain).toString('base64');
}

function unpack(value: string | undefined): Path[] {
  if (value === undefined) return [];
  const bytes = Buffer.from(value.slice(PACKED.length), 'base64');
  const plain = value.startsWith(PACKED)
    ? inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }).toString()
    : value;
  return JSON.parse(plain) as Path[];
}

/** Somebody else's commit may have a line that looks like ours. */
function readFolders(value: string | undefined): Path[] {
  try {
    const folders: unknown = unpack(value);
    return Array.isArray(folders)
      ? folders.filter((one): one is Path => typeof one === 'string')
      : [];
  } catch {
    return [];
  }
}

/** Reads a commit object as git stores it. */
export function parseCommit(id: CommitId, raw: Buffer): Commit {
  const text = raw.toString();
  const split = text.indexOf('\n\n');
  const headers = text.slice(0, split).split('\n');
  const values = (name: string): string[] =>
    headers.filter((one) => one.startsWith(`${name} `)).map((one) => one.slice(name.length + 1));
  const seconds = /> (\d+) [+-]\d{4}$/u.exec(values('committer')[0] ?? '')?.[1] ?? '0';
  const { message, trailers } = splitText(text.slice(split + 2));
  const { [FOLDERS]: folders, ...rest } = trailers;
  return {
    id,
    tree: values('tree')[0] ?? '',
    parents: values('parent') as CommitId[],
    at: Number(seconds) * 1000,
    message,
    trailers: rest,
    emptyFolders: readFolders(folders),
  };
}

function splitText(text: string): { message: string; trailers: Record<string, string> } {
  const body = text.trimEnd();
  const split = body.lastIndexOf('\n\n');
  const lines = body.slice(split + 2).split('\n');
  const pairs = lines.map((line) => /^([A-Za-z][\w-]*): (.*)$/u.exec(line));
  // A commit that somebody else made may have no trailers at all.
  if (split === -1 || pairs.includes(null)) return { message: body, trailers: {} };
  const trailers = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
  return { message: body.slice(0, split).trimEnd(), trailers };
}
