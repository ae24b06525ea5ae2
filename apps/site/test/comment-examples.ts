/** Makes programs of the examples in doc comments, which are parts of programs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** An example in a doc comment. */
export interface CommentExample {
  /** The package's folder, such as `sstable`. */
  readonly package: string;
  /** The file, from the folder of all packages. */
  readonly file: string;
  /** The line of its first line of code, from 1. */
  readonly line: number;
  /** The class or function that the comment belongs to; for a class's member, the class. */
  readonly subject: string;
  readonly code: string;
}

/** A program made of an example. */
export interface ExampleProgram {
  readonly code: string;
  /** Whether it can run in Node without other packages: all its names have values. */
  readonly isRunnable: boolean;
}

/** Code that declares a name which examples use without declaring it. The name in another `subject` is written `subject.name`. */
export type StandIns = Readonly<Record<string, string>>;

const COMMENT = /^(?<indent> *)\/\*\*(?:[^*]|\*(?!\/))*\*\//gm;
const EXAMPLE = /@example\b[^@]*?```ts\n(?<code>[^]*?)^ *\* ```$/gm;
const CLASS = /^export (?:abstract )?class (?<name>\w+)/gm;
const DECLARATION = /^export (?:declare )?(?:abstract )?(?:async )?(?:class|function\*?|const|interface|type) (?<name>\w+)/m;

/** The examples in the doc comments of all packages. */
export function commentExamples(packages: string): CommentExample[] {
  return readdirSync(packages).flatMap((name) =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .sort()
      .flatMap((file) => examplesIn(name, join(name, 'src', file), readFileSync(join(packages, name, 'src', file), 'utf8'))),
  );
}

export function examplesIn(name: string, file: string, text: string): CommentExample[] {
  return [...text.matchAll(COMMENT)].flatMap((comment) =>
    [...comment[0].matchAll(EXAMPLE)].map((example) => {
      const end = comment.index + comment[0].length;
      const isMember = comment.groups!.indent !== '';
      const subject = isMember ? [...text.slice(0, comment.index).matchAll(CLASS)].at(-1) : DECLARATION.exec(text.slice(end));
      const start = comment.index + example.index + example[0].indexOf('```ts\n');
      return {
        package: name,
        file,
        line: text.slice(0, start).split('\n').length + 1,
        subject: subject?.groups?.name ?? '',
        code: example.groups!.code!.replace(/^ *\* ?/gm, ''),
      };
    }),
  );
}

/** Which entry point exports each name: one of the example's own package, if there is one. */
export type Exports = ReadonlyMap<string, readonly string[]>;

/**
 * The program of an example: it imports the names that packages export, and declares those that stand for something of the reader's.
 * `…` stands for nothing, or for an empty body.
 */
export function programOf(example: CommentExample, exportsOf: Exports, standIns: StandIns): ExampleProgram {
  const own = example.code.replace(/ …$/gm, ' {}').replace(/^…$/gm, '');
  const imports = new Set<string>();
  const declarations: string[] = [];
  const resolved = new Set<string>();
  let isRunnable = true;
  const resolve = (text: string): void => {
    const declared = declaredNames(text);
    for (const name of usedNames(text)) {
      if (declared.has(name) || resolved.has(name)) continue;
      resolved.add(name);
      const declaration = standIns[`${example.subject}.${name}`] ?? standIns[name];
      const from = exportsOf.get(name);
      if (declaration !== undefined) {
        resolve(declaration);
        declarations.push(declaration);
        if (/^declare /m.test(declaration)) isRunnable = false;
      } else if (from !== undefined) {
        const entryPoint = from.find((path) => `${path}/`.startsWith(`@bloom/${example.package}/`)) ?? from[0]!;
        imports.add(`import { ${name} } from '${entryPoint}';`);
      }
    }
  };
  resolve(own);
  for (const [, from] of own.matchAll(/ from '(.*)';/g)) if (!/^(?:@bloom\/|node:)/.test(from!)) isRunnable = false;
  return { code: [...imports, ...declarations, withClaims(own), 'export {};', ''].join('\n'), isRunnable };
}

/** Passes each result that a comment behind it, or on the next line, describes to `claim`. */
function withClaims(code: string): string {
  const source = parsed(code);
  let result = code;
  // From the end, so that the places of the other statements stay the same.
  for (const statement of [...source.statements].reverse()) {
    const comment = /^(?: |\n)\/\/ (?<text>.*)/.exec(code.slice(statement.end))?.groups?.text;
    if (comment === undefined || comment === '…') continue;
    const expression = resultOf(statement, source);
    if (expression === undefined) continue;
    const kept = ts.isVariableStatement(statement) ? `${statement.getText(source)} ` : '';
    result = `${result.slice(0, statement.getStart(source))}${kept}claim(${JSON.stringify(comment)}, ${expression});${result.slice(statement.end)}`;
  }
  return result === code ? code : `declare const claim: (comment: string, value: unknown) => void;\n${result}`;
}

/** The expression that a comment behind the statement is about: what it computes, prints, or gives a name. */
function resultOf(statement: ts.Statement, source: ts.SourceFile): string | undefined {
  if (ts.isExpressionStatement(statement)) {
    const expression = statement.expression.getText(source);
    return /^console\.log\((?<printed>.*)\)$/.exec(expression)?.groups?.printed ?? expression;
  }
  if (!ts.isVariableStatement(statement) || statement.declarationList.declarations.length !== 1) return undefined;
  const { name } = statement.declarationList.declarations[0]!;
  const [element] = ts.isArrayBindingPattern(name) && name.elements.length === 1 ? name.elements : [name];
  return ts.isIdentifier(element) ? element.text : ts.isBindingElement(element) && ts.isIdentifier(element.name) ? element.name.text : undefined;
}

function parsed(code: string): ts.SourceFile {
  return ts.createSourceFile('example.ts', code, ts.ScriptTarget.ES2022, true);
}

/** The names that code declares or imports, in any scope. */
function declaredNames(code: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const isDeclaration =
      ts.isVariableDeclaration(node) || ts.isBindingElement(node) || ts.isParameter(node) || ts.isImportSpecifier(node) || ts.isClassDeclaration(node) || ts.isFunctionDeclaration(node);
    if (isDeclaration && node.name !== undefined && ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(parsed(code));
  return names;
}

/** The names that code uses, other than those of members. */
function usedNames(code: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    const { parent } = node;
    if (ts.isIdentifier(node)) {
      const isMember = (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isPropertySignature(parent)) && parent.name === node;
      const isRenamed = ts.isBindingElement(parent) && parent.propertyName === node;
      if (!isMember && !isRenamed) names.add(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed(code));
  return names;
}

/**
 * Whether a result is what a comment says, as far as the comment has a literal, the number of bytes, or the text of the result;
 * undefined if it says something else. Numbers are compared to as many digits as the comment has. What comes after a semicolon or
 * a comma is left out if the whole is not a literal.
 */
export function claimHolds(comment: string, value: unknown): boolean | undefined {
  const text = value instanceof Uint8Array ? new TextDecoder().decode(value) : value;
  if (text === comment) return true;
  if (comment === 'Uint8Array, or undefined') return value === undefined || value instanceof Uint8Array;
  const length = /^(?<length>\d+) bytes$/.exec(comment)?.groups?.length;
  if (length !== undefined) return value instanceof Uint8Array && value.length === Number(length);
  for (const part of [comment, comment.replace(/(?:;|, where) .*$/, '')]) {
    const literal = /^(?:Uint8Array )?(?<literal>.*?)(?:, …\])?$/.exec(part)!.groups!.literal!;
    const isStart = part.endsWith(', …]');
    const expected = valueOf(isStart ? `${literal}]` : literal);
    if (expected === undefined) continue;
    return isEqual(expected.value, isStart ? Array.from(value as ArrayLike<unknown>).slice(0, (expected.value as unknown[]).length) : value, literal);
  }
  return undefined;
}

function isEqual(expected: unknown, value: unknown, literal: string): boolean {
  if (typeof expected === 'number' && typeof value === 'number') {
    const decimals = /^\d+\.(?<decimals>\d+)$/.exec(literal)?.groups?.decimals;
    return expected === (decimals === undefined ? value : Number(value.toFixed(decimals.length)));
  }
  const plain = (data: unknown): string => JSON.stringify(data, (_, member: unknown) => (typeof member === 'bigint' ? `${member}n` : ArrayBuffer.isView(member) ? Array.from(member as Uint8Array) : member));
  return plain(expected) === plain(value);
}

/** The value of a literal; undefined for any other text. */
function valueOf(text: string): { readonly value: unknown } | undefined {
  const isLiteral = (node: ts.Node): boolean =>
    ts.isNumericLiteral(node) ||
    ts.isBigIntLiteral(node) ||
    ts.isStringLiteral(node) ||
    [ts.SyntaxKind.TrueKeyword, ts.SyntaxKind.FalseKeyword].includes(node.kind) ||
    (ts.isIdentifier(node) && node.text === 'undefined') ||
    (ts.isArrayLiteralExpression(node) && node.elements.every(isLiteral)) ||
    (ts.isObjectLiteralExpression(node) && node.properties.every((property) => ts.isPropertyAssignment(property) && isLiteral(property.initializer)));
  const [statement, ...others] = parsed(`(${text})`).statements;
  if (others.length > 0 || statement === undefined || !ts.isExpressionStatement(statement) || !ts.isParenthesizedExpression(statement.expression)) return undefined;
  if (!isLiteral(statement.expression.expression)) return undefined;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the text is a literal
  return { value: (new Function(`return (${text});`) as () => unknown)() };
}
