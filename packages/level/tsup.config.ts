import { library } from '@bloom/tsup-config';

export default library(['src/index.ts', 'src/node.ts', 'src/worker.ts'], ['src/level-worker.ts']);
