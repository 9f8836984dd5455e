/**
 * Messages of the DevTools protocol come from another program, and much of what is in them from
 * pages that nobody knows. Nothing is taken for what the protocol says it is before it was looked at.
 */
export interface DevtoolsEvent {
  readonly method: string;
  readonly params: Fields;
  /** The tab, frame or worker it is about; none: the browser. */
  readonly session?: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : NONE;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
