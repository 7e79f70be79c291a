/** What a member is told who has no space left for generated files, or whom others leave none. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { AssetLimits } from '../store/port.js';

export function memberFull({ memberBytes }: AssetLimits): ApiError {
  const message =
    `Your generated files take up all of the ${inWords(memberBytes)} that a member may keep. ` +
    'Delete some (GET /api/inference/assets lists them, DELETE removes one), or wait until they ' +
    'expire.';
  return new ApiError('storage_full', message);
}

export function totalFull({ totalBytes }: AssetLimits): ApiError {
  const message =
    `The generated files of all members take up the gateway's ${inWords(totalBytes)}. Delete ` +
    'some of yours, or ask its admin for more (GATEWAY_ASSETS_MAX_GB).';
  return new ApiError('storage_full', message);
}

function inWords(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`;
}
