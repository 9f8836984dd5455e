import type { Outline } from '../core/outline.js';
import { nameItems, type Entry } from './items.js';
import { BeyondLimit, MOST_DEPTH, MOST_PARTS } from './limits.js';

export interface JsonOutline extends Outline {
  readonly broken: boolean;
}

/** A list or map that is open at a place of the text. */
interface Frame {
  readonly list: boolean;
  /** The entry it is the value of. */
  readonly entry: number;
  /** The entry of it that is being read; undefined after a comma. */
  member: number | undefined;
  count: number;
  /** The last scalar, which was taken for a value, and what its entry was before. */
  taken: { readonly token: string; readonly line: number; readonly was: Entry } | undefined;
}

/** Spaces and commas apart: a comment, a string (perhaps unfinished), a bracket or colon, a word. */
const TOKEN =
  /(?<space>[\s,]+)|(?<comment>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<text>"[^"\\\n]*(?:\\.[^"\\\n]*)*"?)|(?<mark>[[\]{}:])|(?<word>[^\s,[\]{}:"]+)/guy;

/**
 * Reads any text as JSON: comments and left over commas are taken, whatever else is wrong is
 * stepped over. `JSON.parse` tells no positions and gives up at the first mistake.
 */
export function outlineJson(text: string): JsonOutline {
  const reader = new Reader();
  for (const { 0: token, groups = {} } of text.matchAll(TOKEN)) {
    if (groups['space'] !== undefined) reader.space(token);
    else if (groups['comment'] !== undefined) reader.comment(token);
    else if (groups['mark'] !== undefined) reader.mark(token);
    else reader.scalar(token);
  }
  reader.end();
  nameItems(reader.entries);
  return { what: 'json_path', parts: reader.entries, leads: reader.leads, broken: reader.broken };
}

class Reader {
  readonly entries: Entry[] = [];
  readonly leads = new Set<number>();
  broken = false;
  readonly #frames: Frame[] = [];
  #line = 1;
  #lineIsEmpty = true;

  space(token: string): void {
    const frame = this.#frames.at(-1);
    for (const char of token) {
      if (char === '\n') {
        this.#line += 1;
        this.#lineIsEmpty = true;
      }
      if (char === ',' && frame !== undefined) forget(frame);
    }
  }

  comment(token: string): void {
    const first = this.#line;
    const own = this.#lineIsEmpty;
    this.#line += token.split('\n').length - 1;
    if (!own) return;
    for (let line = first; line <= this.#line; line += 1) this.leads.add(line);
  }

  mark(token: string): void {
    this.#startsHere();
    if (token === '{' || token === '[') this.#open(token === '[');
    else if (token === ':') this.#colon();
    else this.#close(token === ']');
  }

  scalar(token: string): void {
    this.#startsHere();
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    if (!frame.list && frame.member === undefined) {
      frame.member = this.#add(frame, valueOf(token));
      return;
    }
    const entry = this.entries[this.#member(frame)];
    if (entry === undefined) return;
    frame.taken = { token, line: this.#line, was: { ...entry } };
    entry.last = this.#line;
    if (token.startsWith('"')) entry.value = valueOf(token);
  }

  end(): void {
    if (this.#frames.length > 0) this.broken = true;
    while (this.#frames.length > 0) this.#end();
  }

  /** A colon after a value: a comma or a quote is missing before it, and the value was a key. */
  #colon(): void {
    const frame = this.#frames.at(-1);
    if (frame?.list !== false || frame.taken === undefined) return;
    this.broken = true;
    const { token, line, was } = frame.taken;
    if (frame.member !== undefined && this.entries[frame.member] !== undefined) {
      this.entries[frame.member] = was;
    }
    forget(frame);
    frame.member = this.#add(frame, valueOf(token), line);
  }

  #startsHere(): void {
    this.#lineIsEmpty = false;
    this.leads.delete(this.#line);
  }

  #open(list: boolean): void {
    const around = this.#frames.at(-1);
    const entry = around === undefined ? -1 : this.#member(around);
    this.#frames.push({ list, entry, member: undefined, count: 0, taken: undefined });
  }

  #close(list: boolean): void {
    // A bracket that was never opened is stepped over; one of the other kind closes all the same.
    if (this.#frames.at(-1)?.list !== list) this.broken = true;
    this.#end();
  }

  #end(): void {
    const entry = this.entries[this.#frames.pop()?.entry ?? -1];
    if (entry !== undefined) entry.last = this.#line;
  }

  #member(frame: Frame): number {
    frame.member ??= this.#add(frame, String(frame.count++));
    return frame.member;
  }

  #add({ entry, list }: Frame, name: string, line = this.#line): number {
    if (this.#frames.length > MOST_DEPTH) return entry;
    if (this.entries.length >= MOST_PARTS) throw new BeyondLimit('has too many entries');
    this.entries.push({
      kind: 'entry',
      name,
      parent: entry,
      item: list,
      first: line,
      head: line,
      last: line,
    });
    return this.entries.length - 1;
  }
}

function forget(frame: Frame): void {
  frame.member = undefined;
  frame.taken = undefined;
}

function valueOf(token: string): string {
  if (!token.startsWith('"')) return token;
  try {
    return String(JSON.parse(token));
  } catch {
    return token.replaceAll('"', '');
  }
}
