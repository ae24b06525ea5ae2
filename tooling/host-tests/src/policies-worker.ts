// A Cloudflare worker that answers every request with the filters that it makes.
import { policyFigures } from './policy-figures.js';

export default { fetch: (): Response => Response.json(policyFigures()) };
