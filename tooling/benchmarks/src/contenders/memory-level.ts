// memory-level's part: entries in a tree in memory.
import { MemoryLevel } from 'memory-level';
import { levelJobs } from '../level-jobs.js';
import { serve } from '../work.js';

await serve(levelJobs('level-memory', process.argv[2]!, () => new MemoryLevel(), false));
