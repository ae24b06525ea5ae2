import ts from 'typescript';
import { entryPoints, programOf } from './entry-points.js';

/** @import { EntryPoint } from './entry-points.js' */

/**
 * @param {readonly EntryPoint[]} [of]
 * @returns {string[]} the exports, and the methods of exported classes and interfaces, that have no documentation
 */
export function undocumented(of = entryPoints) {
  const program = programOf(of);
  const checker = program.getTypeChecker();
  /** @param {ts.Symbol} symbol */
  const isDocumented = (symbol) => symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0;
  /** @type {Set<string>} */
  const found = new Set();
  for (const { name, folder, types } of of) {
    const file = program.getSourceFile(types);
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${types} is not a module: build first`);
    for (const exported of checker.getExportsOfModule(module)) {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const declarations = (symbol.declarations ?? []).filter((declaration) => declaration.getSourceFile().fileName.startsWith(folder));
      if (declarations.length === 0) continue;
      if (!isDocumented(symbol)) found.add(`${name}: ${exported.name}`);
      for (const member of declarations.flatMap(methodsOf)) {
        const method = checker.getSymbolAtLocation(member);
        // Inherited members are documented where they are declared.
        if (method !== undefined && !isDocumented(method)) found.add(`${name}: ${exported.name}.${method.name}`);
      }
    }
  }
  return [...found];
}

/**
 * @param {ts.Declaration} declaration
 * @returns {ts.Node[]} the names of the public methods of a class or an interface
 */
function methodsOf(declaration) {
  if (!ts.isClassDeclaration(declaration) && !ts.isInterfaceDeclaration(declaration)) return [];
  // An interface such as BlobLike is a part of a standard one, whose own documentation applies.
  if (declaration.name?.text.endsWith('Like')) return [];
  return [...declaration.members].flatMap((member) => {
    const isMethod = ts.isMethodDeclaration(member) || ts.isMethodSignature(member);
    if (!isMethod || ts.getCombinedModifierFlags(member) & ts.ModifierFlags.NonPublicAccessibilityModifier) return [];
    // `Symbol.dispose` and other well-known symbols need no documentation.
    return ts.isIdentifier(member.name) ? [member.name] : [];
  });
}
