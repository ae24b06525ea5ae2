// Counts the declarations in the types of an entry point that no entry point exports: they cannot be imported, but readers of the
// types have to skip them. Some are needed, such as the base class of two exported ones.
import ts from 'typescript';
import { entryPoints, programOf } from './entry-points.js';

/** @import { EntryPoint } from './entry-points.js' */

/**
 * @param {readonly EntryPoint[]} [of]
 * @returns {Map<string, string[]>} for each entry point, the names of the declarations that its exports refer to and nobody can import
 */
export function hidden(of = entryPoints) {
  const program = programOf(of);
  const checker = program.getTypeChecker();
  /** @param {ts.Symbol} symbol */
  const resolved = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const exportsOf = new Map(
    of.map((entry) => {
      const file = program.getSourceFile(entry.types);
      const module = file && checker.getSymbolAtLocation(file);
      if (module === undefined) throw new Error(`${entry.types} is no module: build first`);
      return /** @type {const} */ ([entry, checker.getExportsOfModule(module).map(resolved)]);
    }),
  );
  const importable = new Set([...exportsOf.values()].flat());
  /** @type {Map<string, string[]>} */
  const found = new Map();
  for (const [{ name, folder }, exported] of exportsOf) {
    const reached = new Set(exported);
    for (const symbol of reached) {
      for (const declaration of symbol.declarations ?? []) {
        if (!declaration.getSourceFile().fileName.startsWith(folder)) continue;
        /** @param {ts.Node} node */
        const visit = (node) => {
          const referred = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
          if (referred !== undefined && isTopLevel(resolved(referred))) reached.add(resolved(referred));
          ts.forEachChild(node, visit);
        };
        visit(declaration);
      }
    }
    const names = [...reached].filter((symbol) => !importable.has(symbol) && symbol.declarations?.some((declaration) => declaration.getSourceFile().fileName.startsWith(folder)));
    found.set(name, names.map((symbol) => symbol.name).sort());
  }
  return found;
}

/** @param {ts.Symbol} symbol */
function isTopLevel(symbol) {
  return (symbol.declarations ?? []).some((declaration) => {
    const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    // A source file has no parent.
    return !ts.isSourceFile(statement) && ts.isSourceFile(statement.parent);
  });
}
