import { patchText } from '../core/patch-text.js';
import type { FileDiff, FileDiffInput, FileSide, Hunk, TextDiff } from '../core/text-diff.js';
import { align } from './align.js';
import {
  countLines,
  decodePair,
  decodeUtf8,
  isBinary,
  roughCounts,
  sameBytes,
  splitLines,
} from './content.js';
import { editsOf, hunksOf } from './hunks.js';
import { DEFAULT_LIMITS, type Limits } from './limits.js';
import { merge } from './merge.js';

export function createTextDiff(): TextDiff {
  return {
    file: (input, options = {}) =>
      diffFile(input, { ...DEFAULT_LIMITS, ...options, latin1: false }),
    merge: (base, ours, theirs) => merge({ base, ours, theirs }, DEFAULT_LIMITS),
  };
}

const EMPTY = new Uint8Array();
const LINK = '120000';

interface Terms extends Limits {
  /** One character per byte whatever the content is: another part of the patch needs it. */
  readonly latin1: boolean;
}

function diffFile(input: FileDiffInput, terms: Terms): FileDiff {
  const { before, after } = input;
  if (before && after && (before.mode === LINK) !== (after.mode === LINK)) {
    return diffTypes(input, { before, after }, terms);
  }
  if (before?.content === null || after?.content === null) {
    return { ...factsOf(input), is_too_large: true };
  }
  return diffContents(input, terms);
}

function factsOf({ path, from, change, before, after }: FileDiffInput) {
  return {
    path,
    ...(from === undefined ? {} : { from }),
    change,
    additions: 0,
    deletions: 0,
    is_binary: [before, after].some((side) => side?.content && isBinary(side.content)),
    is_too_large: false,
    ...(before === null ? {} : { mode_before: before.mode }),
    ...(after === null ? {} : { mode_after: after.mode }),
    ...(before?.content ? { bytes_before: before.content.length } : {}),
    ...(after?.content ? { bytes_after: after.content.length } : {}),
  };
}

function diffContents(input: FileDiffInput, terms: Terms): FileDiff {
  const facts = factsOf(input);
  const before = input.before?.content ?? EMPTY;
  const after = input.after?.content ?? EMPTY;
  if (sameBytes(before, after)) {
    return finish(input, facts, { hunks: [], similarity: 100, ascii: terms.latin1 });
  }
  const sides = [before, after];
  const heavy = sides.some((side) => side.length > terms.maxBytes);
  if (facts.is_binary) {
    return finish(
      input,
      { ...facts, is_too_large: heavy },
      { hunks: 'binary', ascii: terms.latin1 },
    );
  }
  if (heavy || sides.some((side) => countLines(side) > terms.maxLines)) {
    return { ...facts, ...roughCounts(before, after), is_too_large: true };
  }
  return diffText(input, { before, after }, terms);
}

function diffText(
  input: FileDiffInput,
  contents: { readonly before: Uint8Array; readonly after: Uint8Array },
  terms: Terms,
): FileDiff {
  const { encoding, ...texts } = decodePair(contents, terms.latin1);
  const sides = { before: splitLines(texts.before), after: splitLines(texts.after) };
  const { partner } = align(sides.before, sides.after, terms.maxEdits);
  const edits = editsOf(partner, sides.after.length);
  const kept = sides.before.filter((_, line) => partner[line] !== -1);
  const facts = {
    ...factsOf(input),
    additions: sides.after.length - kept.length,
    deletions: sides.before.length - kept.length,
    ...(encoding === 'utf-8' ? {} : { encoding }),
  };
  return finish(input, facts, {
    hunks: hunksOf(edits, sides, terms.context),
    similarity: similarityOf(kept.join('').length, texts),
    ascii: encoding !== 'utf-8',
  });
}

/** Rounded down, so that 100 means the same content. */
function similarityOf(kept: number, texts: { before: string; after: string }): number {
  return Math.floor((kept * 100) / Math.max(texts.before.length, texts.after.length));
}

interface Findings {
  readonly hunks: readonly Hunk[] | 'binary';
  readonly similarity?: number;
  readonly ascii: boolean;
}

function finish(input: FileDiffInput, facts: FileDiff, findings: Findings): FileDiff {
  const { path, from, before, after } = input;
  const { hunks, similarity, ascii } = findings;
  const renamed = from !== undefined && from !== path && similarity !== undefined;
  const unified = patchText({
    path,
    ...(from === undefined ? {} : { from }),
    ...(before === null ? {} : { modeBefore: before.mode }),
    ...(after === null ? {} : { modeAfter: after.mode }),
    ...(renamed ? { similarity } : {}),
    body: hunks,
    ascii,
  });
  return {
    ...facts,
    ...(renamed ? { similarity } : {}),
    unified,
    ...(hunks === 'binary' ? {} : { hunks }),
  };
}

/** A file that became a link, or the other way round: git wants the one deleted, the other added. */
function diffTypes(
  input: FileDiffInput,
  { before, after }: { readonly before: FileSide; readonly after: FileSide },
  terms: Terms,
): FileDiff {
  const latin1 = [before, after].some(
    ({ content }) => content && !isBinary(content) && decodeUtf8(content) === undefined,
  );
  const { path, from = path } = input;
  const both = { ...terms, latin1 };
  const gone = diffFile({ path: from, change: 'deleted', before, after: null }, both);
  const come = diffFile({ path, change: 'added', before: null, after }, both);
  return {
    ...factsOf(input),
    additions: come.additions,
    deletions: gone.deletions,
    is_too_large: gone.is_too_large || come.is_too_large,
    ...(gone.hunks && come.hunks ? { hunks: [...gone.hunks, ...come.hunks] } : {}),
    ...(gone.unified !== undefined && come.unified !== undefined
      ? { unified: gone.unified + come.unified }
      : {}),
    ...(latin1 ? { encoding: 'latin1' } : {}),
  };
}
