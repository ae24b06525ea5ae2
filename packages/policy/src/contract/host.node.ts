/** What the laws get from Node: the time that the processor spent on them, and an end to what does not end by itself. */
import { createContext, Script } from 'node:vm';

/** Milliseconds that the processor has worked for this program; those of a busy machine's other programs do not count. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * `node:vm` stops whatever its script has called, and so also an endless loop of a policy.
 *
 * @returns runs a step for at most `limitMs` milliseconds, and says whether it came to its end.
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
