import ts from 'typescript';
import { lineFinder } from '../../src/semantics/content.js';

/** The named parts of a script by TypeScript's own parser: `kind id head-last` each. */
export function outlineByTypeScript(path: string, text: string): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineOf = lineFinder(text);
  const found: string[] = [];
  const visit = (node: ts.Node, around: Around): void => {
    const definition = define(node);
    if (definition === undefined) {
      ts.forEachChild(node, (child) => visit(child, around));
      return;
    }
    const { name, at, kind, inside = node } = definition;
    const names = [...around.names, name];
    const shown = kind === 'function' && around.holdsMethods ? 'method' : kind;
    found.push(`${shown} ${names.join('.')} ${lineOf(at)}-${lineOf(node.end - 1)}`);
    const holdsMethods = kind === 'class' || kind === 'object';
    ts.forEachChild(inside, (child) => visit(child, { names, holdsMethods }));
  };
  visit(file, { names: [], holdsMethods: false });
  return found;
}

interface Around {
  readonly names: readonly string[];
  readonly holdsMethods: boolean;
}

interface Definition {
  readonly kind: 'function' | 'class' | 'module' | 'object';
  readonly name: string;
  /** Offset of the name. */
  readonly at: number;
  /** The node with the children, where it is another. */
  readonly inside?: ts.Node;
}

function define(node: ts.Node): Definition | undefined {
  if (ts.isModuleDeclaration(node)) return defineModule(node);
  if (ts.isInterfaceDeclaration(node) || ts.isEnumDeclaration(node)) {
    return named('class', node.name);
  }
  if (ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) {
    const kind = ts.isClassDeclaration(node) ? 'class' : 'function';
    return node.name === undefined ? byDefault(kind, node) : named(kind, node.name);
  }
  if (ts.isConstructorDeclaration(node)) {
    const word = node.getText().indexOf('constructor');
    return { kind: 'function', name: 'constructor', at: node.getStart() + word };
  }
  if (ts.isMethodDeclaration(node) || ts.isAccessor(node)) return named('function', node.name);
  return defineByValue(node) ?? defineExpression(node);
}

function defineModule(node: ts.ModuleDeclaration): Definition | undefined {
  if ((node.flags & ts.NodeFlags.GlobalAugmentation) !== 0) return undefined;
  const names = [plain(node.name)];
  let inside = node.body;
  while (inside !== undefined && ts.isModuleDeclaration(inside)) {
    names.push(plain(inside.name));
    inside = inside.body;
  }
  const at = node.name.getStart();
  return { kind: 'module', name: names.join('.'), at, ...(inside && { inside }) };
}

function defineByValue(node: ts.Node): Definition | undefined {
  if (
    ts.isVariableDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node)
  ) {
    const kind = kindOf(node.initializer);
    const isName = !ts.isVariableDeclaration(node) || ts.isIdentifier(node.name);
    if (kind === undefined || !isName || node.initializer === undefined) return undefined;
    return { ...named(kind, node.name), inside: node.initializer };
  }
  if (ts.isExportAssignment(node) && node.isExportEquals !== true) {
    const kind = kindOf(node.expression);
    return kind && { ...byDefault(kind, node), inside: node.expression };
  }
  return ts.isBinaryExpression(node) ? defineByAssignment(node) : undefined;
}

function defineByAssignment({
  left,
  operatorToken,
  right,
}: ts.BinaryExpression): Definition | undefined {
  const kind = kindOf(right);
  if (kind === undefined || operatorToken.kind !== ts.SyntaxKind.EqualsToken) return undefined;
  if (!ts.isIdentifier(left) && !ts.isPropertyAccessExpression(left)) return undefined;
  return { ...named(kind, left), inside: right };
}

function defineExpression(node: ts.Node): Definition | undefined {
  if (ts.isFunctionExpression(node)) return node.name && named('function', node.name);
  if (ts.isClassExpression(node)) return node.name && named('class', node.name);
  return undefined;
}

function kindOf(value: ts.Node | undefined): Definition['kind'] | undefined {
  if (value === undefined) return undefined;
  if (ts.isArrowFunction(value) || ts.isFunctionExpression(value)) return 'function';
  if (ts.isClassExpression(value)) return 'class';
  return ts.isObjectLiteralExpression(value) ? 'object' : undefined;
}

function named(kind: Definition['kind'], name: ts.Node): Definition {
  return { kind, name: plain(name), at: name.getStart() };
}

function byDefault(kind: Definition['kind'], node: ts.Node): Definition {
  const word = node.getText().search(/\bdefault\b/u);
  return { kind, name: 'default', at: node.getStart() + word };
}

function plain(name: ts.Node): string {
  const text = ts.isStringLiteral(name) ? name.getText().slice(1, -1) : name.getText();
  return text.replaceAll(/\s+/gu, ' ');
}
