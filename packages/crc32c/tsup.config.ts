import { library } from '@bloom/tsup-config';

export default library(['src/index.ts'], ['src/crc32c.node.ts', 'src/crc32c.default.ts']);
