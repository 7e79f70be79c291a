/** What is metered besides tokens (specification, section 8). */
import type { KeptFile } from './answer-files.js';

export interface Measures {
  readonly audioMs: number;
  readonly images: number;
}

export const NOTHING_MEASURED: Measures = { audioMs: 0, images: 0 };

/** Audio by duration, images by count. */
export function measureFiles(kept: readonly KeptFile[]): Measures {
  const of = (family: string) => kept.filter(({ asset }) => asset.contentType.startsWith(family));
  const seconds = of('audio/').map(({ asset }) => asset.seconds ?? 0);
  const audioMs = seconds.reduce((sum, one) => sum + Math.round(one * 1000), 0);
  return { audioMs, images: of('image/').length };
}
