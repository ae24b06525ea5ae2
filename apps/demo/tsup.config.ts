import { program } from '@bloom/tsup-config';

export default program(['src/demo.ts']);
