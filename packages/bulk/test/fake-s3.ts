import { S3Server } from '@bloom/fixtures';
import { S3Store, type S3StoreOptions } from '@bloom/bulk/s3';

/** The server of the fixtures, and stores in it. */
export class FakeS3 extends S3Server {
  static start(): Promise<FakeS3> {
    return new FakeS3().listen();
  }

  store(options: Partial<S3StoreOptions> = {}): S3Store {
    return new S3Store(this.url, { credentials: { accessKeyId: 'id', secretAccessKey: 'secret' }, retryDelayMs: 1, ...options });
  }
}
