import { library } from '@bloom/tsup-config';

export default library(['src/index.ts', 'src/node.ts', 'src/browser.ts', 'src/opfs.ts', 'src/http.ts', 'src/idb-comparator.ts', 'src/inspect.ts', 'src/internal.ts', 'src/contract.ts'], ['src/table-worker.node.ts']);
