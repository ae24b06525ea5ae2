// Lib ES2022 does not name the symbol, which every supported host has. @types/node and lib ESNext.Disposable say the same.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

export {};
