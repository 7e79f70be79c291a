import type { KeptFile } from '@inference-gateway/coordinator/assets/answer-files';
import { measureFiles } from '@inference-gateway/coordinator/assets/measures';
import { expect, test } from 'vitest';
import { newAsset } from '../../store/store-rows.js';

function kept(contentType: string, seconds: number | null = null): KeptFile {
  return { asset: newAsset('anna', { contentType, seconds }), revisedPrompt: null };
}

test.each<[string, readonly KeptFile[], { audioMs: number; images: number }]>([
  ['nothing', [], { audioMs: 0, images: 0 }],
  ['speech, by its duration', [kept('audio/wav', 1.2345)], { audioMs: 1_235, images: 0 }],
  ['audio whose duration cannot be told', [kept('audio/ogg')], { audioMs: 0, images: 0 }],
  ['images, by their count', [kept('image/png'), kept('image/webp')], { audioMs: 0, images: 2 }],
  ['a film, which is neither', [kept('video/mp4', 3)], { audioMs: 0, images: 0 }],
])('of an answer is metered: %s', (_, files, measures) => {
  expect(measureFiles(files)).toEqual(measures);
});
