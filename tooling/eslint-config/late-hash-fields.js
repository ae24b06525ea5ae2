import ts from 'typescript';

/**
 * V8 sizes the objects of a class by the fields of its first seven objects. If the garbage collector took those before the seventh is made,
 * V8 has forgotten their fields and reserves no space. Then a `#` field, or the brand of an object with `#` methods, may turn the object into
 * a dictionary when it has more than 12 fields. In Node 20 that happens after 15, 18, 21 and so on, and in each class of more than 16
 * `#` fields. Lookups in a database took 1.35 times as long in a process that had opened and closed twelve.
 *
 * Fields without `#` have no such limit: an object with 120 of them was not turned into a dictionary. Of a base class from a declaration
 * file, only the declared fields are counted.
 */
const MOST_BEFORE = 12;

/** @typedef {{ readonly node: ts.Node, readonly isHash: boolean }} Field */

/** @typedef {import('eslint').Rule.Node} Node */

/**
 * What typescript-eslint's parser provides besides the syntax tree.
 *
 * @typedef {object} TypedServices
 * @property {ts.Program} program
 * @property {{ get(node: Node): ts.ClassLikeDeclaration }} esTreeNodeToTSNodeMap
 * @property {{ get(node: ts.Node): Node }} tsNodeToESTreeNodeMap
 */

/** @param {ts.ClassLikeDeclaration} declaration */
function baseOf(declaration, /** @type {ts.TypeChecker} */ checker) {
  const clause = declaration.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
  const expression = clause?.types[0]?.expression;
  const symbol = expression && checker.getSymbolAtLocation(expression);
  const base = symbol && (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  for (const found of base?.declarations ?? []) {
    if (ts.isClassLike(found)) return found;
    if (ts.isVariableDeclaration(found) && found.initializer !== undefined && ts.isClassExpression(found.initializer)) return found.initializer;
  }
  return undefined;
}

/** @param {ts.ClassElement} member @param {ts.SyntaxKind[]} kinds */
function has(member, kinds) {
  return ts.canHaveModifiers(member) && (ts.getModifiers(member)?.some(({ kind }) => kinds.includes(kind)) ?? false);
}

/**
 * The fields of an object in the order in which it gets them, those of its base class first.
 *
 * @param {ts.ClassLikeDeclaration} declaration
 * @param {ts.TypeChecker} checker
 * @returns {Field[]}
 */
function fieldsOf(declaration, checker) {
  const base = baseOf(declaration, checker);
  const fields = base === undefined ? [] : fieldsOf(base, checker);
  const own = declaration.members.filter((member) => !has(member, [ts.SyntaxKind.StaticKeyword]));
  const hashMethod = own.find((member) => (ts.isMethodDeclaration(member) || ts.isAccessor(member)) && ts.isPrivateIdentifier(member.name));
  if (hashMethod !== undefined) fields.push({ node: hashMethod, isHash: true });
  const parameters = own.find(ts.isConstructorDeclaration)?.parameters ?? [];
  for (const parameter of parameters) if (ts.isParameterPropertyDeclaration(parameter, parameter.parent)) fields.push({ node: parameter, isHash: false });
  for (const member of own) {
    if (!ts.isPropertyDeclaration(member) || has(member, [ts.SyntaxKind.DeclareKeyword, ts.SyntaxKind.AbstractKeyword])) continue;
    fields.push({ node: member, isHash: ts.isPrivateIdentifier(member.name) || has(member, [ts.SyntaxKind.AccessorKeyword]) });
  }
  return fields;
}

/** @type {import('eslint').Rule.RuleModule} */
export const lateHashFields = {
  meta: {
    type: 'problem',
    schema: [],
    messages: { late: 'At least {{before}} fields come before this one, so V8 may turn the object into a dictionary: make it `private`, without `#`.' },
  },
  create(context) {
    /** @type {unknown} */
    const services = context.sourceCode.parserServices;
    const { program, esTreeNodeToTSNodeMap, tsNodeToESTreeNodeMap } = /** @type {TypedServices} */ (services);
    const checker = program.getTypeChecker();
    /** @param {Node} node */
    const check = (node) => {
      const declaration = esTreeNodeToTSNodeMap.get(node);
      for (const [i, field] of fieldsOf(declaration, checker).entries()) {
        if (!field.isHash || i <= MOST_BEFORE || field.node.parent !== declaration) continue;
        context.report({ node: tsNodeToESTreeNodeMap.get(field.node), messageId: 'late', data: { before: String(i) } });
      }
    };
    return { ClassDeclaration: check, ClassExpression: check };
  },
};
