import { z } from 'zod';
import type { SmithyError } from '../../core/errors.js';
import { DATA_NOTE, fenced, visible } from '../../core/untrusted-text.js';
import type { AnyMethod } from '../method.js';

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & Record<string, unknown>;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** The model's view of the table: every row that is offered to it. */
export function toTools(methods: readonly AnyMethod[]): Tool[] {
  return methods.filter(({ on }) => on.includes('mcp')).map(toTool);
}

function toTool(row: AnyMethod): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(row.input, { io: 'input' });
  return {
    name: row.name,
    description: row.advice === undefined ? row.summary : `${row.summary} ${row.advice}`,
    inputSchema: schema as Tool['inputSchema'],
    annotations: {
      readOnlyHint: row.effect === 'read',
      destructiveHint: row.destructive === true,
      // It knows this one project and nothing beyond.
      openWorldHint: false,
    },
  };
}

export interface ToolResult {
  [more: string]: unknown;
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
}

/** A model reads no more at once; the structured answer is whole. */
const MOST_TEXT = 100_000;

export function toResult(answer: unknown): ToolResult {
  const whole = JSON.stringify(answer, null, 1);
  const text = whole.slice(0, MOST_TEXT);
  const rest = whole.length - text.length;
  const cut = rest === 0 ? '' : `\nCut: ${rest} more characters. Ask for less at a time.`;
  return {
    content: [{ type: 'text', text: `${DATA_NOTE}\n${fenced(text, 'json')}${cut}` }],
    structuredContent: answer as Record<string, unknown>,
  };
}

/** A failure is an answer too: the model is told what happened and what to do. */
export function toFailure(error: SmithyError): ToolResult {
  const { code, hint, ...data } = error.toWire().data;
  const body = { error: { code, message: error.message, hint, ...data } };
  const said = [
    visible(`${code}: ${error.message}`),
    ...(hint === undefined ? [] : [visible(hint)]),
  ];
  const { content } = toResult(body);
  return {
    content: [{ type: 'text', text: `${said.join('\n')}\n${content[0]?.text ?? ''}` }],
    structuredContent: body,
    isError: true,
  };
}
