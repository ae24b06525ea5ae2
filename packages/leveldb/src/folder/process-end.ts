/** Writes that were called when the process ends: they must be made synchronously, because no promise is continued any more. */

/** A queue of writes. */
interface Waiting {
  /** Writes as much as it can synchronously. */
  catchUp(): unknown;
}

const waiting = new Set<Waiting>();
let isComing = false;

/** Whether the process is about to end, so that nothing that is awaited is sure to happen. */
export function isProcessEnding(): boolean {
  return isComing;
}

export function addWaiting(queue: Waiting): void {
  waiting.add(queue);
}

export function removeWaiting(queue: Waiting): void {
  waiting.delete(queue);
}

/** Makes all waiting writes. A process that continues nevertheless, because something else announced its end, writes as before after `afterwards`. */
export function endProcess(afterwards: (call: () => void) => void): void {
  isComing = true;
  afterwards(() => {
    isComing = false;
  });
  for (const queue of waiting) queue.catchUp();
}
