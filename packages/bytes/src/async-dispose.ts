// Every supported host has this symbol, but lib ES2022 does not declare it. @types/node and lib ESNext.Disposable declare it
// in the same way.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

export {};
