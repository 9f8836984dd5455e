import type { Outline, Part } from '../core/outline.js';

const DEFINITION =
  /^[ \t]*(?:async[ \t]+)?(?<word>def|class)[ \t]+(?<name>[\p{L}_][\p{L}\p{N}_]*)/u;
const LAMBDA = /^[ \t]*(?<name>[\p{L}_][\p{L}\p{N}_]*)[ \t]*(?::[^=]*)?=[ \t]*lambda\b/u;
const LEADS = /^[ \t]*[@#]/u;
/** The end of a signature or a call that was broken into lines. */
const CLOSES = /^[ \t]*[)\]}]/u;

/**
 * Python after a bracket that is never closed is one expression to the grammar, and every
 * definition below is lost. Indentation still tells where they are. Gives the outline back when the
 * grammar has missed none, as it knows more: texts that look like code, odd indentation.
 */
export function recoverPython<Known extends Outline>(outline: Known, text: string): Known {
  const recovered = new Recovered();
  text.split('\n').forEach((line, index) => recovered.take(line, index + 1));
  const heads = new Set(outline.parts.map(({ head }) => head));
  const { parts, leads } = recovered;
  return parts.every(({ head }) => heads.has(head)) ? outline : { ...outline, parts, leads };
}

class Recovered {
  readonly parts: (Part & { last: number; readonly indent: number })[] = [];
  readonly leads = new Set<number>();
  /** The innermost part that the next line may belong to. */
  #inside = -1;

  take(line: string, number: number): void {
    if (LEADS.test(line)) this.leads.add(number);
    if (line.trim() === '' || CLOSES.test(line) || LEADS.test(line)) return;
    const indent = line.length - line.trimStart().length;
    this.#leave(indent);
    const { name, word } = (DEFINITION.exec(line) ?? LAMBDA.exec(line))?.groups ?? {};
    if (name !== undefined) {
      const kind = word === 'class' ? 'class' : 'function';
      const lines = { first: number, head: number, last: number };
      this.parts.push({ kind, name, parent: this.#inside, ...lines, indent });
      this.#inside = this.parts.length - 1;
    }
    for (let part = this.parts[this.#inside]; part !== undefined; part = this.parts[part.parent]) {
      part.last = number;
    }
  }

  #leave(indent: number): void {
    for (let part = this.parts[this.#inside]; part !== undefined; part = this.parts[part.parent]) {
      if (part.indent < indent) return;
      this.#inside = part.parent;
    }
  }
}
