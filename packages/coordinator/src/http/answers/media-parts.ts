/** What answers of files are made with, and what is metered of them. */
import type { ServerResponse } from 'node:http';
import type { AnswerFiles, KeptFile } from '../../assets/answer-files.js';
import type { AssetLibrary } from '../../assets/asset-library.js';
import type { Measures } from './answer.js';
import type { PaceTiming } from './paced-response.js';

export interface MediaParts {
  readonly response: ServerResponse;
  readonly timing: PaceTiming;
  readonly files: AnswerFiles;
  readonly library: AssetLibrary;
  /** Where an asset is fetched. */
  readonly urlOf: (assetId: string) => string;
}

/** Specification, section 8: audio by its duration, images by their count. */
export function measureFiles(kept: readonly KeptFile[]): Measures {
  const of = (family: string) => kept.filter(({ asset }) => asset.contentType.startsWith(family));
  const seconds = of('audio/').map(({ asset }) => asset.seconds ?? 0);
  const audioMs = seconds.reduce((sum, one) => sum + Math.round(one * 1000), 0);
  return { audioMs, images: of('image/').length };
}
