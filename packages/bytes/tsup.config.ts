import { library } from '@bloom/tsup-config';

export default library(['src/index.ts', 'src/internal.ts']);
