// Node's own timers. Test suites replace the global ones with timers that stand still, some before this is loaded; jsdom has no setImmediate.
import * as timers from 'node:timers';

export const { setImmediate, setTimeout } = timers;
