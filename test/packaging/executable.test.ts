import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { expect, test } from 'vitest';
import { bundleExecutable } from '../../packaging/bundle.js';
import { tone } from '../support/sound.js';
import { temporaryFolder } from '../support/temporary-folder.js';

test('the thread of the executable, which has no file, converts a sound', async () => {
  const { assets } = await bundleExecutable();
  const source = Buffer.from(assets['media/codecs/conversion-worker'] ?? '').toString('base64');
  const folder = await temporaryFolder();
  const [input, output] = [join(folder, 'in'), join(folder, 'out')];
  await writeFile(input, tone(1));
  await writeFile(output, '');
  const workerData = { input, output, format: 'wav', to: 'opus', limitBytes: 1_000_000 };
  const worker = new Worker(new URL(`data:text/javascript;base64,${source}`), { workerData });
  const verdict = await new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
  await worker.terminate();
  expect(verdict).toEqual({ kind: 'done' });
  expect(detectFormat(await readFile(output))).toBe('ogg');
});
