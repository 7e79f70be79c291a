import { ApiError } from '@inference-gateway/shared/errors';

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a caller is told when the disk fails; the cause is for the log. */
export function asStorageError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== undefined && NO_SPACE.has(code)) {
    const message =
      "The gateway's disk is full, so that it cannot keep the file. Tell its admin; deleting " +
      'generated files makes room.';
    return new ApiError('storage_full', message, { cause });
  }
  const message = 'The gateway cannot write the file to its disk now. Try again; tell its admin.';
  return new ApiError('storage_unavailable', message, { cause });
}
