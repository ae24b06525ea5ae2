// Every supported host has these symbols, but lib ES2022 does not declare them. @types/node and lib ESNext.Disposable declare
// them in the same way.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
    readonly dispose: unique symbol;
  }
}

export {};
