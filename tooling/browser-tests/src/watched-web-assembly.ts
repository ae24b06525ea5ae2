/** How WebAssembly was used. */
export interface WebAssemblyUse {
  /** The number of modules that were compiled and instantiated. */
  started: number;
  /** The error message for each module that could not be compiled. */
  readonly refusals: string[];
}

interface WebAssemblyHost {
  readonly Module: new (binary: Uint8Array) => object;
  readonly Instance: new (module: object, imports?: object) => object;
}

/** Records every use of the host's WebAssembly from now on. */
export function watchWebAssembly(): WebAssemblyUse {
  const host = globalThis as unknown as { WebAssembly: WebAssemblyHost };
  const { Module, Instance } = host.WebAssembly;
  const use: WebAssemblyUse = { started: 0, refusals: [] };
  host.WebAssembly = {
    Module: new Proxy(Module, {
      construct(target, [binary]: [Uint8Array]) {
        try {
          return new target(binary);
        } catch (error) {
          use.refusals.push(String(error));
          throw error;
        }
      },
    }),
    Instance: new Proxy(Instance, {
      construct(target, [module, imports]: [object, object | undefined]) {
        use.started++;
        return new target(module, imports);
      },
    }),
  };
  return use;
}
