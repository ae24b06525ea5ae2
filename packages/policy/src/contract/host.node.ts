/** What Node offers the laws: the processor time that they used, and a way to interrupt a call that does not return. */
import { createContext, Script } from 'node:vm';

/** Milliseconds of processor time that this program has used; other programs on a busy machine do not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * `node:vm` interrupts whatever its script has called, even an endless loop in a policy.
 *
 * @returns a function that runs a step for at most `limitMs` milliseconds and returns whether the step finished.
 */
export function interrupter(): (limitMs: number, step: () => void) => boolean {
  const sandbox = { step: (): void => undefined };
  const context = createContext(sandbox);
  const script = new Script('step()');
  return (limitMs, step) => {
    let hasEnded = false;
    sandbox.step = () => {
      step();
      hasEnded = true;
    };
    try {
      script.runInContext(context, { timeout: Math.max(1, Math.ceil(limitMs)) });
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    }
    return hasEnded;
  };
}
