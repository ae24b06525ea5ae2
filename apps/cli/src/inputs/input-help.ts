/** What commands read, for their help. */

/** One input: a table or a database. */
export const INPUT = 'a table, folder, log or MANIFEST, the URL of one, or s3://BUCKET/PREFIX; - is standard input';

/** Several of them. */
export const INPUTS = 'tables, folders, logs, MANIFESTs, URLs of them, s3://BUCKET/PREFIX; - is standard input';

const VARIABLES = `AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION
(us-east-1), and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for a server other than
Amazon's.
`;

/** For commands that read databases. */
export const BUCKET_HELP = `
s3://BUCKET/PREFIX is a database in a bucket, read with environment variables:
${VARIABLES}`;

/** For commands that take a store. */
export const STORE_HELP = `
A STORE is a folder, or s3://BUCKET/PREFIX with the usual environment variables:
${VARIABLES}`;
