// Serves the built site until it is interrupted: the last step of `npx pnpm@10 site`.
import process from 'node:process';
import { SiteServer } from './site-server.js';

const server = await SiteServer.start(Number(process.env.PORT ?? 4173));
console.log(`The site is served at ${server.origin}${process.env.SITE_BASE ?? '/'}`);
