/** Amazon's S3, and servers with its API. */
export { type S3Credentials, type S3Environment, type S3Fetch, type S3FetchHost, type S3Request, type S3Response, S3Store, s3StoreOf, type S3StoreOptions } from './s3/s3-store.js';
