import { program } from '@bloom/tsup-config';

export default program(['src/bench.ts', 'src/levels.ts', 'src/http-server.ts', 'src/memory.ts', 'src/filter-policies.ts', 'src/filter-rates.ts', 'src/filter-ranges.ts', 'src/structured-keys.ts', 'src/fitted-filters.ts', 'src/checksum.ts', 'src/http-requests.ts', 'src/published.ts', 'src/command.ts', 'src/event-loop.ts', 'src/process-job.ts', 'src/contenders/*.ts']);
