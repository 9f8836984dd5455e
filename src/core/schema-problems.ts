import { z } from 'zod';
import { didYouMean, nearest } from './nearest.js';

/** One thing wrong with an input, named so that its sender can mend it. */
export interface Problem {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

/** Every problem of a failed parse; unknown keys come with the nearest known ones. */
export function problemsOf(schema: z.ZodType, error: z.ZodError): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') {
      return [{ path: path.join('.'), message: issue.message }];
    }
    const known = keysAt(schema, path);
    return issue.keys.map((key) => {
      const hint = didYouMean(nearest(key, known));
      return {
        path: [...path, key].join('.'),
        message: 'unknown key',
        ...(hint === undefined ? {} : { hint }),
      };
    });
  });
}

export function describeProblems(problems: readonly Problem[]): string {
  return problems
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
    .join('; ');
}

export function hintOf(problems: readonly Problem[]): string | undefined {
  return problems.find((problem) => problem.hint !== undefined)?.hint;
}

function keysAt(schema: z.ZodType, path: readonly string[]): string[] {
  let here: z.core.$ZodType | undefined = schema;
  for (const part of path) here = here === undefined ? undefined : shapeOf(here)[part];
  return here === undefined ? [] : Object.keys(shapeOf(here));
}

/** The fields of an object schema, seen through `.optional()`, `.default()` and the like. */
function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  if (schema instanceof z.ZodObject) return schema.shape;
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  ) {
    return shapeOf(schema.unwrap());
  }
  return {};
}
