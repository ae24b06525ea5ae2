/** Makes the writes that are still waiting when the process ends. They must be synchronous, because no promise is continued any more. */

/** A queue of writes. */
interface Waiting {
  /** Writes as much as it can synchronously. */
  catchUp(): unknown;
}

const waiting = new Set<Waiting>();
let isEnding = false;

/** Whether the process is about to end, so that nothing that is awaited is sure to happen. */
export function isProcessEnding(): boolean {
  return isEnding;
}

export function addWaiting(queue: Waiting): void {
  waiting.add(queue);
}

export function removeWaiting(queue: Waiting): void {
  waiting.delete(queue);
}

/** Makes all waiting writes. If the process continues, because a program only emitted the event, `afterwards` calls back to return to normal writing. */
export function endProcess(afterwards: (call: () => void) => void): void {
  isEnding = true;
  afterwards(() => {
    isEnding = false;
  });
  for (const queue of waiting) queue.catchUp();
}
