import { library } from '@bloom/tsup-config';

export default library(['src/index.ts'], ['src/deflate.node.ts', 'src/deflate.default.ts']);
