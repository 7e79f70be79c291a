/** What answers of files are made with. */
import type { ServerResponse } from 'node:http';
import type { AnswerFiles } from '../../../assets/answer-files.js';
import type { AssetLibrary } from '../../../assets/asset-library.js';
import type { PaceTiming } from './paced-response.js';

export interface MediaParts {
  readonly response: ServerResponse;
  readonly timing: PaceTiming;
  readonly files: AnswerFiles;
  readonly library: AssetLibrary;
  /** Where an asset is fetched. */
  readonly urlOf: (assetId: string) => string;
}
