/** Where generated files are: whether it can be used, and whether all coordinators share it. */
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { CommandError } from '@inference-gateway/shared/program/command-error';
import type { FilesPlace } from '../../assets/files-url.js';
import { filesMarkOf, openFiles, requireUsable } from '../../assets/open-files.js';

const SHARE =
  'Set GATEWAY_FILES_URL to a folder or object storage that all coordinators share: ' +
  'docs/operations/object-storage.md.';

/** Writes, reads and deletes a small file. Empty where files are in the folder, as usual. */
export async function checkFiles(place: FilesPlace, databaseUrl: string | null): Promise<Check[]> {
  const { pass, warn, fail } = checking('files');
  const { dataDir, filesUrl } = place;
  try {
    if (filesUrl === null && filesMarkOf(dataDir) === null) {
      if (databaseUrl === null) return [];
      const found = 'files are in a private folder while the database is on PostgreSQL';
      return [warn(`${found}: a second coordinator cannot serve them`, SHARE)];
    }
    const files = await openFiles(place);
    try {
      await requireUsable(files, place);
      return [pass(`${filesUrl ?? dataDir} can be written and read`)];
    } finally {
      files.close();
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return [fail(error.message, 'Correct GATEWAY_FILES_URL, or see the log of the storage.')];
  }
}
