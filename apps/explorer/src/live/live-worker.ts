import { serveMethods } from '../worker/serve-calls.js';
import { LiveDatabase } from './live-database.js';

serveMethods(new LiveDatabase('slow'));
