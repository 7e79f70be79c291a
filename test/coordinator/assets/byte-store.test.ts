import { FolderStore, openByteStore } from '@inference-gateway/coordinator/assets/folder-store';
import { S3Store } from '@inference-gateway/coordinator/assets/s3-store';
import { describe } from 'vitest';
import { bucketOf, useS3 } from '../../support/s3.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { describeByteStore } from './byte-store-contract.js';

const s3 = useS3();

describe('in the data folder', () => {
  describeByteStore(async () => openByteStore(await temporaryFolder()));
});

describe('in a shared folder', () => {
  describeByteStore(async () => new FolderStore(await temporaryFolder()));
});

describe('in an object storage', () => {
  describeByteStore(async () => {
    const { filesUrl, credentials } = s3();
    const draftFolder = await temporaryFolder();
    return new S3Store({ bucket: bucketOf(filesUrl()), credentials, draftFolder });
  });
});
