import { join } from 'node:path';
import ts from 'typescript';

const PACKAGES = join(import.meta.dirname, '../..');
const ENTRY_POINTS = ['sstable/src/index.ts', 'sstable/src/node.ts', 'sstable/src/database.ts', 'sstable/src/http.ts', 'sstable/src/blob.ts', 'sstable/src/inspect.ts', 'leveldb/src/index.ts', 'leveldb/src/node.ts', 'leveldb/src/inspect.ts', 'leveldb/src/http.ts'];

/** A public member of a class, or a function: what is given to it, and what it gives. */
export interface Callable {
  /** The parameters before the options: `key: Uint8Array`. Undefined for what is not called. */
  readonly parameters: readonly string[] | undefined;
  /** The names of its options; undefined where it takes none. */
  readonly options: readonly string[] | undefined;
  readonly result: string;
}

/** What the packages export, as the type checker sees it. */
export class ExportedTypes {
  readonly #checker: ts.TypeChecker;
  readonly #exports = new Map<string, ts.Symbol>();

  constructor() {
    const program = ts.createProgram(
      ENTRY_POINTS.map((path) => join(PACKAGES, path)),
      {
        target: ts.ScriptTarget.ES2022,
        lib: ['lib.es2022.d.ts'],
        module: ts.ModuleKind.NodeNext,
        moduleResolution: ts.ModuleResolutionKind.NodeNext,
        customConditions: ['bloom-source'],
        // Types of the host are not needed for names and signatures, and take most of the time.
        types: [],
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
      },
    );
    this.#checker = program.getTypeChecker();
    for (const path of ENTRY_POINTS) {
      const file = this.#checker.getSymbolAtLocation(program.getSourceFile(join(PACKAGES, path))!)!;
      for (const symbol of this.#checker.getExportsOfModule(file)) {
        const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
        this.#exports.set(symbol.name, isAlias ? this.#checker.getAliasedSymbol(symbol) : symbol);
      }
    }
  }

  /** Whether an entry point exports this name. */
  exports(name: string): boolean {
    return this.#exports.has(name);
  }

  /** The names of the classes that are exported. */
  classes(): string[] {
    return [...this.#exports].filter(([, { flags }]) => (flags & ts.SymbolFlags.Class) !== 0).map(([name]) => name);
  }

  /** The public members of a class by name: `get`, `static open`, `[Symbol.dispose]`. */
  membersOf(className: string): Map<string, Callable> {
    const symbol = this.#exported(className);
    const instance = this.#checker.getDeclaredTypeOfSymbol(symbol);
    const statics = this.#checker.getTypeOfSymbol(symbol);
    const members = new Map<string, Callable>();
    for (const property of instance.getProperties()) this.#add(members, '', property);
    for (const property of statics.getProperties()) if (property.name !== 'prototype') this.#add(members, 'static ', property);
    return members;
  }

  /** What `openTable`, `Table.open` or, for a constructor, `TableBuilder` takes and gives. */
  callable(name: string): Callable {
    const [owner, member] = name.split('.') as [string, string | undefined];
    if (member !== undefined) return this.membersOf(owner).get(`static ${member}`)!;
    const symbol = this.#exported(owner);
    const type = this.#checker.getTypeOfSymbol(symbol);
    return this.#callable((symbol.flags & ts.SymbolFlags.Class ? type.getConstructSignatures() : type.getCallSignatures())[0]!);
  }

  #exported(name: string): ts.Symbol {
    const symbol = this.#exports.get(name);
    if (symbol === undefined) throw new Error(`no entry point exports ${name}`);
    return symbol;
  }

  #add(members: Map<string, Callable>, prefix: string, property: ts.Symbol): void {
    const declaration = property.declarations?.[0];
    const name = declaration && ts.getNameOfDeclaration(declaration);
    if (declaration === undefined || (name !== undefined && ts.isPrivateIdentifier(name))) return;
    // Not in the types that are published.
    if (ts.getJSDocTags(declaration).some(({ tagName }) => tagName.text === 'internal')) return;
    if ((ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.NonPublicAccessibilityModifier) !== 0) return;
    const [, known] = /^__@(\w+)@\d+$/.exec(property.name) ?? [];
    const type = this.#checker.getTypeOfSymbol(property);
    const [signature] = type.getCallSignatures();
    const fact = signature === undefined ? { parameters: undefined, options: undefined, result: this.#text(type) } : this.#callable(signature);
    members.set(prefix + (known === undefined ? property.name : `[Symbol.${known}]`), fact);
  }

  #callable(signature: ts.Signature): Callable {
    const parameters = [...signature.getParameters()];
    const last = parameters.at(-1);
    const options = last && this.#optionsOf(last);
    if (options !== undefined) parameters.pop();
    return {
      parameters: parameters.map((parameter) => `${parameter.name}: ${this.#text(this.#checker.getTypeOfSymbol(parameter))}`),
      options,
      result: this.#text(signature.getReturnType()),
    };
  }

  /** The names in a parameter for options: an object all of whose properties may be left out. */
  #optionsOf(parameter: ts.Symbol): string[] | undefined {
    if (parameter.name !== 'options' && parameter.name !== 'range') return undefined;
    const type = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(parameter));
    return type.getProperties().map(({ name }) => name);
  }

  #text(type: ts.Type): string {
    return this.#checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  }
}
