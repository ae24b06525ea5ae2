import { program } from '@bloom/tsup-config';

export default program(['src/bench.ts', 'src/contenders/*.ts']);
