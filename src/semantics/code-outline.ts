import type { Node, QueryMatch, Tree } from 'web-tree-sitter';
import type { Outline, Part, PartKind } from '../core/outline.js';
import type { Grammar } from './grammars.js';
import { BeyondLimit, MOST_PARTS, PARSE_MS } from './limits.js';

export interface CodeOutline extends Outline {
  /** The grammar could not make sense of some of it. */
  readonly broken: boolean;
}

const RESERVED = new Set(
  'class const else export for function if import let return switch var while'.split(' '),
);

interface Definition {
  readonly kind: PartKind;
  readonly node: Node;
  readonly name: Node;
}

/** No tree is kept: a file is rarely asked for twice in a row, and reading it again is cheap. */
export function outlineCode(
  { parser, query }: Grammar,
  text: string,
  parseMs = PARSE_MS,
): CodeOutline {
  const deadline = performance.now() + parseMs;
  const progressCallback = (): boolean => performance.now() > deadline;
  const tree = parser.parse(text, null, { progressCallback });
  if (tree === null) {
    // Or the next file would go on where this one stopped.
    parser.reset();
    throw new BeyondLimit('takes too long to parse');
  }
  try {
    const matches = query.matches(tree.rootNode, { progressCallback });
    if (progressCallback()) throw new BeyondLimit('takes too long to parse');
    return toOutline(tree, text, matches);
  } finally {
    tree.delete();
  }
}

function toOutline(tree: Tree, text: string, matches: readonly QueryMatch[]): CodeOutline {
  const definitions: Definition[] = [];
  const leads = new Set<number>();
  const lines = text.split('\n');
  const named = valuesNamedFromOutside(matches);
  for (const { captures } of matches) {
    const around = captures.find(({ name }) => name !== 'name' && name !== 'value');
    const name = captures.find((capture) => capture.name === 'name');
    if (around === undefined) continue;
    if (name === undefined) addLead(leads, around.node, lines);
    else if (!named.has(around.node.id) && !isGuess(around.node, name.node)) {
      definitions.push({ kind: around.name as PartKind, node: around.node, name: name.node });
    }
  }
  if (definitions.length > MOST_PARTS) throw new BeyondLimit('has too many definitions');
  return { what: 'code', parts: nest(definitions), leads, broken: tree.rootNode.hasError };
}

/** Where a brace is missing, `const a = () => {` in a class is read as a field named `const`. */
function isGuess(node: Node, name: Node): boolean {
  return RESERVED.has(name.text) && node.hasError;
}

function valuesNamedFromOutside(matches: readonly QueryMatch[]): Set<number> {
  const ids = new Set<number>();
  for (const { captures } of matches) {
    for (const { name, node } of captures) if (name === 'value') ids.add(node.id);
  }
  return ids;
}

/** Only where nothing else stands on its lines. */
function addLead(leads: Set<number>, node: Node, lines: readonly string[]): void {
  const { startPosition: start, endPosition: end } = node;
  if (lines[start.row]?.slice(0, start.column).trim() !== '') return;
  if (lines[end.row]?.slice(end.column).trim() !== '') return;
  for (let row = start.row; row <= end.row; row += 1) leads.add(row + 1);
}

function nest(definitions: Definition[]): Part[] {
  definitions.sort(
    (left, right) =>
      left.node.startIndex - right.node.startIndex || right.node.endIndex - left.node.endIndex,
  );
  const parts: Part[] = [];
  const open: { index: number; end: number }[] = [];
  for (const { kind, node, name } of definitions) {
    while ((open.at(-1)?.end ?? Infinity) <= node.startIndex) open.pop();
    const parent = open.at(-1)?.index ?? -1;
    open.push({ index: parts.length, end: node.endIndex });
    parts.push({
      kind,
      name: nameFrom(name),
      parent,
      first: node.startPosition.row + 1,
      head: name.startPosition.row + 1,
      last: node.endPosition.row + 1,
    });
  }
  return parts;
}

function nameFrom({ type, text }: Node): string {
  const name = type === 'string' ? text.slice(1, -1) : text;
  return name.replaceAll(/\s+/gu, ' ');
}
