/** Cloudflare R2, in a Worker. */
export { type R2BodyLike, type R2BucketLike, type R2ObjectLike, R2Store } from './r2/r2-store.js';
