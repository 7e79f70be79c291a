import { DurationMeter } from '@inference-gateway/coordinator/media/duration';
import { createHash } from 'node:crypto';
import { appendFile, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  encodeFile,
  encodeStreamed,
  filmSource,
  silentWav,
  toneSource,
} from '../../support/sound.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SECONDS = 3.37;
const TONE = toneSource(SECONDS);
const NO_INDEX = ['-write_xing', '0', '-id3v2_version', '0'];

/** Looks like MP3 frames but is inside a tag, whose length is 3 × 128² + 13 × 128 + 64. */
const FRAMES = Buffer.alloc(50_880, Buffer.from([0xff, 0xfb, 0x90, 0x00]));

function startMeter(limitMs?: number): DurationMeter {
  const meter = new DurationMeter(limitMs);
  onTestFinished(() => meter.close());
  return meter;
}

describe('within a tenth of a second is measured', () => {
  test.each([
    ['wav', 'audio/wav', ['-f', 'wav']],
    ['wav of floats', 'audio/wav', ['-c:a', 'pcm_f32le', '-f', 'wav']],
    ['wav of ADPCM', 'audio/wav', ['-c:a', 'adpcm_ms', '-f', 'wav']],
    ['mp3 with an index', 'audio/mpeg', ['-q:a', '4', '-f', 'mp3']],
    ['mp3 of constant rate', 'audio/mpeg', ['-b:a', '64k', ...NO_INDEX, '-f', 'mp3']],
    ['mp3 of variable rate', 'audio/mpeg', ['-q:a', '4', ...NO_INDEX, '-f', 'mp3']],
    ['mp3 at 44.1 kHz in stereo', 'audio/mpeg', ['-ar', '44100', '-ac', '2', '-f', 'mp3']],
    ['m4a', 'audio/mp4', ['-f', 'ipod']],
    ['flac', 'audio/flac', ['-f', 'flac']],
    ['ogg vorbis', 'audio/ogg', ['-c:a', 'libvorbis', '-f', 'ogg']],
    ['ogg opus', 'audio/ogg', ['-c:a', 'libopus', '-f', 'opus']],
    ['webm', 'audio/webm', ['-c:a', 'libopus', '-f', 'webm']],
    ['aac', 'audio/aac', ['-f', 'adts']],
  ])('%s', async (_, contentType, args) => {
    const path = join(await temporaryFolder(), 'tone');
    await encodeFile(path, [...TONE, ...args]);
    expectClose(await startMeter().seconds(path, contentType), SECONDS);
  });

  test.each([
    ['wav', 'audio/wav', []],
    ['mp3', 'audio/mpeg', []],
    ['mp4', 'audio/mp4', ['-movflags', 'frag_keyframe+empty_moov']],
    ['flac', 'audio/flac', []],
    ['ogg', 'audio/ogg', ['-c:a', 'libopus']],
    ['webm', 'audio/webm', ['-c:a', 'libopus', '-live', '1']],
  ])('%s that was streamed, without a length in its header', async (format, type, args) => {
    const path = join(await temporaryFolder(), 'tone');
    await encodeStreamed(path, [...TONE, ...args], format);
    expectClose(await startMeter().seconds(path, type), SECONDS);
  });

  test('mp3 that is shorter than a tenth of a second', async () => {
    const path = join(await temporaryFolder(), 'tone');
    await encodeFile(path, [...toneSource(0.02), ...NO_INDEX, '-f', 'mp3']);
    const measured = await startMeter().seconds(path, 'audio/mpeg');
    expect(measured).toBeGreaterThan(0);
    expectClose(measured, 0.02);
  });

  test('mp3 behind a tag with a picture, and before another', async () => {
    const path = join(await temporaryFolder(), 'tone');
    await encodeFile(path, [...TONE, '-f', 'mp3', '-write_id3v1', '1', '-metadata', 'title=x']);
    const sound = await readFile(path);
    const tag = Buffer.concat([Buffer.from('ID3\x03\0\0\0\x03\x0d\x40', 'latin1'), FRAMES]);
    await writeFile(path, Buffer.concat([tag, sound]));
    expectClose(await startMeter().seconds(path, 'audio/mpeg'), SECONDS);
  });

  test('mp3 that was glued together, whatever the index of its first piece says', async () => {
    const path = join(await temporaryFolder(), 'tone');
    await encodeFile(path, [...TONE, '-f', 'mp3']);
    await appendFile(path, await readFile(path));
    expectClose(await startMeter().seconds(path, 'audio/mpeg'), 2 * 3.43);
  });

  test.each([
    ['video/mp4', ['-c:v', 'mpeg4', '-f', 'mp4']],
    ['video/webm', ['-c:v', 'libvpx', '-f', 'webm']],
  ])('%s without sound', async (contentType, args) => {
    const path = join(await temporaryFolder(), 'film');
    await encodeFile(path, [...filmSource(2), ...args]);
    expectClose(await startMeter().seconds(path, contentType), 2);
  });
});

describe('a WAV is measured by its bytes where its header says', () => {
  test.each([
    ['zero', { riffBytes: 0, dataBytes: 0 }],
    ['the greatest number', { riffBytes: 0xffffffff, dataBytes: 0xffffffff }],
    ['more than there is', { dataBytes: 16_000_000 }],
  ])('%s', async (_, said) => {
    const path = join(await temporaryFolder(), 'a.wav');
    await writeFile(path, silentWav(2, said));
    expect(await startMeter().seconds(path, 'audio/wav')).toBe(2);
  });
});

test('bare samples are OpenAI’s: 24 kHz, 16 bits, mono', async () => {
  const path = join(await temporaryFolder(), 'samples');
  await writeFile(path, Buffer.alloc(72_000));
  expect(await startMeter().seconds(path, 'audio/pcm')).toBe(1.5);
});

describe('nothing is told of', () => {
  const types = ['wav', 'mpeg', 'mp4', 'flac', 'ogg', 'webm', 'aac', 'pcm'];

  test.each(types.filter((type) => type !== 'pcm'))('garbage called audio/%s', async (type) => {
    const path = join(await temporaryFolder(), 'garbage');
    // The same noise every time: some noise is by chance the beginning of a sound.
    const noise = createHash('shake256', { outputLength: 100_000 }).update('noise').digest();
    await writeFile(path, noise);
    expect(await startMeter().seconds(path, `audio/${type}`)).toBeNull();
  });

  test.each(types)('an empty file that is called audio/%s', async (type) => {
    const path = join(await temporaryFolder(), 'empty');
    await writeFile(path, '');
    expect(await startMeter().seconds(path, `audio/${type}`)).toBeNull();
  });

  test('a file that is not there, and the next one is measured', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'a.wav'), silentWav(1));
    const meter = startMeter();
    expect(await meter.seconds(join(folder, 'b.wav'), 'audio/wav')).toBeNull();
    expect(await meter.seconds(join(folder, 'a.wav'), 'audio/wav')).toBe(1);
  });

  test('a WAV whose chunks have no end', async () => {
    const path = join(await temporaryFolder(), 'a.wav');
    const chunks = Buffer.from('JUNK\0\0\0\0'.repeat(10_000), 'latin1');
    await writeFile(path, Buffer.concat([silentWav(1).subarray(0, 12), chunks]));
    expect(await startMeter().seconds(path, 'audio/wav')).toBeNull();
  });
});

describe('a file that takes too long', () => {
  test('is given up, and the files behind it are measured by another thread', async () => {
    const path = await endlessFile();
    const whole = join(await temporaryFolder(), 'a.wav');
    await writeFile(whole, silentWav(1));
    const meter = startMeter(1_500);
    const both = await Promise.all([
      meter.seconds(path, 'audio/mpeg'),
      meter.seconds(whole, 'audio/wav'),
    ]);
    expect(both).toEqual([null, 1]);
  });

  test('holds up nobody else in the meantime', async () => {
    const path = await endlessFile();
    const meter = startMeter(1_000);
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    expect(await meter.seconds(path, 'audio/mpeg')).toBeNull();
    delay.disable();
    expect(delay.percentile(90) / 1e6).toBeLessThan(100);
  });

  test('is dropped when the meter closes, with those that wait', async () => {
    const path = await endlessFile();
    const meter = startMeter();
    const asked = [meter.seconds(path, 'audio/mpeg'), meter.seconds(path, 'audio/mpeg')];
    await meter.close();
    expect(await Promise.all(asked)).toEqual([null, null]);
    expect(await meter.seconds(path, 'audio/mpeg')).toBeNull();
  });
});

test('of very many files at once some are not measured, and all are answered', async () => {
  const path = join(await temporaryFolder(), 'a.wav');
  await writeFile(path, silentWav(1));
  const meter = startMeter();
  const asked = Array.from({ length: 300 }, () => meter.seconds(path, 'audio/wav'));
  const measured = (await Promise.all(asked)).filter((seconds) => seconds === 1);
  expect(measured).toHaveLength(257);
});

function expectClose(measured: number | null, seconds: number): void {
  expect(Math.abs((measured ?? 0) - seconds)).toBeLessThanOrEqual(0.1);
}

/** Zeros that take no space on disk, and minutes to search for a frame. */
async function endlessFile(): Promise<string> {
  const path = join(await temporaryFolder(), 'endless');
  const handle = await open(path, 'w');
  await handle.truncate(8 * 1024 ** 3);
  await handle.close();
  return path;
}
