import { library } from '@bloom/tsup-config';

export default library(['src/index.ts', 'src/node.ts', 'src/database.ts', 'src/internal.ts', 'src/inspect.ts', 'src/blob.ts', 'src/http.ts', 'src/contract.ts'], ['src/compression/snappy-compressor.ts']);
