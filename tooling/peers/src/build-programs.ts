// `pnpm --filter @bloom/peers build-programs`: builds all programs, and says how long each took.
import { peers } from './peers.js';

for (const peer of peers()) {
  const start = performance.now();
  const reason = await peer.unavailableReason();
  console.log(`${peer.name}: ${reason ?? `${((performance.now() - start) / 1000).toFixed(1)} s`}`);
}
