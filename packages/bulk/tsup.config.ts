import { library } from '@bloom/tsup-config';

export default library(['src/index.ts', 'src/internal.ts', 'src/node.ts', 'src/s3.ts', 'src/r2.ts']);
