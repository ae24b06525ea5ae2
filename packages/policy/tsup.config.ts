import { library } from '@bloom/tsup-config';

export default library(
  ['src/index.ts', 'src/kit.ts', 'src/internal.ts', 'src/compare.ts', 'src/contract.ts'],
  ['src/contract/host.node.ts', 'src/contract/host.default.ts'],
);
