import type { Answer, Held, LevelCall, LevelCalls, ReadItems, Request } from './level-messages.js';

const WRITES: ReadonlySet<LevelCall> = new Set<LevelCall>(['put', 'delete', 'write', 'clear']);
/** A sequence that no state has. */
const LOST = -1n;

/**
 * The unanswered requests, as the next worker must receive them. Those for walks and snapshots fail there if a later request is a write:
 * that write may have been made, and they would show it.
 */
export function repeatedRequests(unanswered: readonly Request[]): Request[] {
  const repeated: Request[] = [];
  let isBeforeWrite = false;
  for (const request of [...unanswered].reverse()) {
    const [id, call, ...values] = request;
    isBeforeWrite ||= WRITES.has(call);
    if (isBeforeWrite && call === 'snapshot') repeated.push([id, call, values[0], LOST]);
    else if (isBeforeWrite && call === 'walk') repeated.push([id, call, ...values.slice(0, 5), LOST]);
    else repeated.push(request);
  }
  return repeated.reverse();
}

interface WalkState {
  readonly asked: Parameters<LevelCalls['walk']>;
  readonly sequence: bigint;
  /** The request that moves a new walk to the position of this one; undefined at the beginning. */
  at: Request | undefined;
}

/**
 * The snapshots and walks that a page has in another worker, as its answers tell, and the requests that recreate them in the next worker.
 */
export class HeldStates {
  /** Snapshots by their numbers, with their sequences. */
  readonly #snapshots = new Map<Held, bigint>();
  readonly #walks = new Map<Held, WalkState>();

  /** Records the effect of an answered request. */
  answered([, call, ...values]: Request, [, failed, result]: Answer): void {
    if (failed === 1) return;
    const id = values[0] as Held;
    switch (call) {
      case 'snapshot':
        this.#snapshots.set(id, result as bigint);
        break;
      case 'release':
        this.#snapshots.delete(id);
        break;
      case 'walk':
        this.#walks.set(id, { asked: values as unknown as WalkState['asked'], sequence: result as bigint, at: undefined });
        break;
      case 'seek':
        this.#moved(id, [0, 'seek', ...values]);
        break;
      case 'read':
        this.#moved(id, [0, 'goOn', id, (result as ReadItems)[1]]);
        break;
      case 'endWalk':
        this.#walks.delete(id);
        break;
      case 'close':
        this.#snapshots.clear();
        this.#walks.clear();
        break;
      default:
      // Nothing else is kept.
    }
  }

  /** The sequence of an answered snapshot. */
  sequenceOf(snapshot: Held | undefined): bigint | undefined {
    return snapshot === undefined ? undefined : this.#snapshots.get(snapshot);
  }

  /** Requests that make the same snapshots and walks, if the states still exist. */
  get requests(): Request[] {
    const requests: Request[] = Array.from(this.#snapshots, ([id, sequence]) => [0, 'snapshot', id, sequence]);
    for (const [id, { asked: [, range, form, fillCache], sequence, at }] of this.#walks) {
      requests.push([0, 'walk', id, range, form, fillCache, undefined, sequence]);
      if (at !== undefined) requests.push(at);
    }
    return requests;
  }

  #moved(id: Held, at: Request): void {
    const walk = this.#walks.get(id);
    if (walk !== undefined) walk.at = at;
  }
}
