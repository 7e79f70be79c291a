/** Rules of files of the API, and of batches whose requests are the lines of such a file. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';

export const FILE_PURPOSES = ['batch', 'batch_output'] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];

/** Files of a member. */
export const MAX_FILES = 1_000;

/** Batches of a member that are read from a file and have not ended. */
export const MAX_OPEN_FILE_BATCHES = 32;

/** What the asset of a file of lines has; `path`: of the API that its lines are for. */
export function assetFactsOf(path: string) {
  const endpoint = ENDPOINT_KEYS.find((key) => `/v1${ENDPOINTS[key].path}` === path) ?? 'chat';
  return { providerId: null, model: '', endpoint, contentType: 'application/jsonl' } as const;
}

export const FILE_BATCH_STATUSES = [
  'in_progress',
  'finalizing',
  'completed',
  'failed',
  'expired',
  'cancelling',
  'cancelled',
] as const;

/** When a batch that is read from a file came how far, in Unix ms. */
interface Progress {
  readonly finalizingAt: number | null;
  readonly cancellingAt: number | null;
  readonly expiredAt: number | null;
  readonly endedAt: number | null;
  /** JSON; null if nothing hinders it. */
  readonly fault: string | null;
}

/** In the words of OpenAI's API. */
export function fileBatchStatus(batch: Progress): (typeof FILE_BATCH_STATUSES)[number] {
  const { cancellingAt, expiredAt, finalizingAt, endedAt, fault } = batch;
  if (endedAt === null) {
    if (cancellingAt !== null) return 'cancelling';
    return finalizingAt === null ? 'in_progress' : 'finalizing';
  }
  if (fault !== null) return 'failed';
  if (cancellingAt !== null) return 'cancelled';
  return expiredAt === null ? 'completed' : 'expired';
}
