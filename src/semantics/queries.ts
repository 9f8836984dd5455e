import type { CodeLanguage } from '../core/semantics.js';

/**
 * What has a name, per language. The capture around it is its kind; `@value` marks an expression
 * that is named from outside, so that `const a = function b() {}` is one function and not two.
 * `@lead` is what may stand above a definition and belongs to it.
 */

const FUNCTION_VALUE = '[(arrow_function) (function_expression) (generator_function)]';

function namedValues(target: string): string {
  return `
    (${target} value: ${FUNCTION_VALUE} @value) @function
    (${target} value: (class) @value) @class
    (${target} value: (object)) @object`;
}

const SCRIPT = `
  (function_declaration name: (_) @name) @function
  (generator_function_declaration name: (_) @name) @function
  (class_declaration name: (_) @name) @class
  (method_definition name: (_) @name) @function
  (function_expression name: (_) @name) @function
  (generator_function name: (_) @name) @function
  (class name: (_) @name) @class
  ${namedValues('variable_declarator name: (identifier) @name')}
  ${namedValues('pair key: (_) @name')}
  ${namedValues('export_statement "default" @name')}
  (assignment_expression left: [(identifier) (member_expression)] @name
    right: ${FUNCTION_VALUE} @value) @function
  (assignment_expression left: [(identifier) (member_expression)] @name
    right: (class) @value) @class
  (assignment_expression left: [(identifier) (member_expression)] @name
    right: (object)) @object
  (comment) @lead
  (decorator) @lead`;

const TYPED = `
  ${SCRIPT}
  ${namedValues('public_field_definition name: (_) @name')}
  (abstract_class_declaration name: (_) @name) @class
  (interface_declaration name: (_) @name) @class
  (enum_declaration name: (_) @name) @class
  (internal_module name: (_) @name) @module
  (module name: (_) @name) @module
  (function_signature name: (_) @name) @function
  (abstract_method_signature name: (_) @name) @function
  (class_body (method_signature name: (_) @name) @function)`;

export const QUERIES: Readonly<Record<CodeLanguage, string>> = {
  python: `
    (function_definition name: (_) @name) @function
    (class_definition name: (_) @name) @class
    (assignment left: (identifier) @name right: (lambda)) @function
    (comment) @lead
    (decorator) @lead`,
  javascript: `
    ${SCRIPT}
    ${namedValues('field_definition property: (_) @name')}`,
  typescript: TYPED,
  tsx: TYPED,
};
