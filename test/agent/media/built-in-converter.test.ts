/** Sounds that a real ffmpeg made, converted without one; and what strangers may send instead. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConversionError, UnknownSoundError } from '@inference-gateway/agent/media/audio-converter';
import type { SoundTarget } from '@inference-gateway/agent/media/audio-converter';
import { BuiltInConverter, converterOf } from '@inference-gateway/agent/media/built-in-converter';
import type { BuiltInOptions } from '@inference-gateway/agent/media/built-in-converter';
import { detectFormat } from '@inference-gateway/shared/media/types';
import { afterEach, describe, expect, test } from 'vitest';
import { decoded, encodeFile, heard, silentWav, tone } from '../../support/sound.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const OWN_FOLDERS = `gateway-agent-media-${process.pid}-`;

afterEach(async () => {
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith(OWN_FOLDERS));
  expect(left).toEqual([]);
});

async function convert(input: Buffer, to: SoundTarget, options?: BuiltInOptions): Promise<Buffer> {
  const { signal } = new AbortController();
  const made = await new BuiltInConverter(options).convert(inPieces(input), to, signal);
  const pieces: Uint8Array[] = [];
  for await (const piece of made.read()) pieces.push(piece);
  await made.dispose();
  const all = Buffer.concat(pieces);
  expect(all).toHaveLength(made.bytes);
  expect(made.contentType).toBe(to === 'opus' ? 'audio/ogg' : 'audio/wav');
  return all;
}

async function* inPieces(bytes: Buffer, size = 4_096): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const SECONDS = 1.5;

/** A tone of 440 Hz, as a file of this kind. */
async function made({ args, rate = 24_000, channels = 1 }: Omit<Kind, 'name'>): Promise<Buffer> {
  const path = join(await temporaryFolder(), 'tone');
  const source = `sine=frequency=440:sample_rate=${rate}:duration=${SECONDS}`;
  const given = ['-f', 'lavfi', '-i', source, '-ac', String(channels), ...args];
  await encodeFile(path, given);
  return readFile(path);
}

/** Codecs add at most a frame at each end, and change a tone by less than its own pitch. */
function expectTone(wav: Buffer): ReturnType<typeof heard> {
  const sound = heard(wav);
  expect(Math.abs(sound.seconds - SECONDS)).toBeLessThan(0.06);
  expect(Math.abs(sound.hertz - 440)).toBeLessThan(2);
  expect(sound.loudness).toBeGreaterThan(0.055);
  expect(sound.loudness).toBeLessThan(0.095);
  return sound;
}

interface Kind {
  readonly name: string;
  readonly args: readonly string[];
  /** 24,000 if it is absent. */
  readonly rate?: number;
  readonly channels?: number;
}

const KINDS: readonly Kind[] = [
  { name: 'WAV of 8 bits', args: ['-c:a', 'pcm_u8', '-f', 'wav'], rate: 8_000 },
  { name: 'WAV of 16 bits', args: ['-f', 'wav'], rate: 22_050 },
  { name: 'WAV of 24 bits', args: ['-c:a', 'pcm_s24le', '-f', 'wav'], rate: 44_100, channels: 2 },
  { name: 'WAV of 32 bits', args: ['-c:a', 'pcm_s32le', '-f', 'wav'], rate: 96_000 },
  { name: 'WAV of floats', args: ['-c:a', 'pcm_f32le', '-f', 'wav'], rate: 48_000, channels: 2 },
  { name: 'WAV of doubles', args: ['-c:a', 'pcm_f64le', '-f', 'wav'], rate: 11_025 },
  { name: 'MP3', args: ['-id3v2_version', '4', '-f', 'mp3'], rate: 44_100, channels: 2 },
  { name: 'MP3 with a constant rate', args: ['-b:a', '32k', '-f', 'mp3'], rate: 16_000 },
  { name: 'Opus in Ogg', args: ['-c:a', 'libopus', '-f', 'ogg'], rate: 48_000, channels: 2 },
  {
    name: 'Opus in Ogg, mono',
    args: ['-c:a', 'libopus', '-frame_duration', '60', '-f', 'ogg'],
    rate: 16_000,
  },
  { name: 'Opus in WebM', args: ['-c:a', 'libopus', '-f', 'webm'], rate: 48_000 },
  {
    name: 'Opus in WebM as it is recorded',
    args: ['-c:a', 'libopus', '-live', '1', '-f', 'webm'],
    rate: 48_000,
    channels: 2,
  },
  { name: 'Opus in Matroska', args: ['-c:a', 'libopus', '-f', 'matroska'], rate: 24_000 },
];

describe.each(KINDS)('$name', (kind) => {
  test('becomes a WAV, 16 kHz mono for speech models, and Opus', async () => {
    const { channels = 1 } = kind;
    const sound = await made(kind);
    expect(expectTone(await convert(sound, 'wav')).channels).toBe(channels);
    const speech = expectTone(await convert(sound, 'wav16k'));
    expect([speech.sampleRate, speech.channels]).toEqual([16_000, 1]);
    const opus = await convert(sound, 'opus');
    expect(opus.toString('latin1', 28, 36)).toBe('OpusHead');
    expect(expectTone(await decoded(opus)).channels).toBe(channels);
  });
});

describe('Opus that is made here', () => {
  test.each([8_000, 22_050, 44_100])(
    'of %i Hz lasts exactly as long, with whatever ends in the middle of a packet',
    async (rate) => {
      for (const seconds of [0.02, 0.333]) {
        const path = join(await temporaryFolder(), 'tone');
        const source = `sine=frequency=440:sample_rate=${rate}:duration=${seconds}`;
        await encodeFile(path, ['-f', 'lavfi', '-i', source, '-f', 'wav']);
        const wav = await readFile(path);
        const { seconds: given } = heard(wav);
        const { seconds: told } = heard(await decoded(await convert(wav, 'opus')));
        expect(Math.abs(told - given)).toBeLessThan(0.000_2);
        const own = heard(await convert(await convert(wav, 'opus'), 'wav'));
        expect(Math.abs(own.seconds - given)).toBeLessThan(0.000_2);
      }
    },
  );

  test('of nothing is a file without sound', async () => {
    const opus = await convert(silentWav(0), 'opus');
    expect(heard(await convert(opus, 'wav')).seconds).toBe(0);
  });

  test('of six channels is mono', async () => {
    const opus = await convert(
      await made({ args: ['-f', 'wav'], rate: 48_000, channels: 6 }),
      'opus',
    );
    expect(heard(await decoded(opus)).channels).toBe(1);
  });
});

/** Of a second at 44.1 kHz, as speech models hear it. */
async function wave(hertz: number): Promise<Buffer> {
  const path = join(await temporaryFolder(), 'tone');
  const source = `sine=frequency=${hertz}:sample_rate=44100:duration=1`;
  await encodeFile(path, ['-f', 'lavfi', '-i', source, '-f', 'wav']);
  return convert(await readFile(path), 'wav16k');
}

test('what a lower rate cannot hold is filtered out, and makes no other tone', async () => {
  const given = heard(await wave(440)).loudness;
  for (const hertz of [100, 6_000]) {
    const { loudness, hertz: told } = heard(await wave(hertz));
    expect(Math.abs(loudness - given) / given).toBeLessThan(0.01);
    expect(Math.abs(told - hertz)).toBeLessThan(3);
  }
  // 60 dB below: the noise of 16 bits.
  for (const hertz of [8_300, 12_000]) {
    expect(heard(await wave(hertz)).loudness).toBeLessThan(given / 1_000);
  }
});

function wavHeader(changes: (header: Buffer) => void): Buffer {
  const wav = Buffer.from(tone(0.1));
  changes(wav);
  return wav;
}

test.each<[string, Buffer, RegExp]>([
  ['no sound', Buffer.from('<html>no</html>'), /no sound file/],
  ['nothing', Buffer.alloc(0), /no sound file/],
  ['a WAV of 1 Hz', wavHeader((wav) => wav.writeUInt32LE(1, 24)), /sample rate is 1 Hz/],
  ['a WAV of 2³¹ Hz', wavHeader((wav) => wav.writeUInt32LE(2 ** 31, 24)), /2147483648 Hz/],
  ['a WAV of 0 channels', wavHeader((wav) => wav.writeUInt16LE(0, 22)), /0 channels/],
  ['a WAV of 65,535 channels', wavHeader((wav) => wav.writeUInt16LE(65_535, 22)), /65535 channels/],
  ['a WAV without samples', tone(0.1).subarray(0, 36), /no samples/],
  [
    'a WAV of empty chunks',
    Buffer.from(`RIFF0000WAVE${'JUNK\0\0\0\0'.repeat(9_000)}`),
    /no samples/,
  ],
  ['an ID3 tag alone', Buffer.concat([Buffer.from('ID3'), Buffer.alloc(90_000)]), /no MP3/],
  ['WebM without a track', Buffer.from('1a45dfa380', 'hex'), /no track of sound/],
])('%s is a broken sound', async (_what, input, message) => {
  const failure = await convert(input, 'wav16k').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConversionError);
  expect((failure as Error).message).toMatch(message);
  expect((failure as Error).message).not.toMatch(/tmp|gateway-agent|0x/);
});

test('an Ogg of something else is named', async () => {
  const speex = Buffer.alloc(200);
  speex.write('OggS', 0, 'latin1');
  const failure = await convert(speex, 'wav').catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UnknownSoundError);
});

test('half a file, and one with wrong bytes, ends in a sound or in an error', async () => {
  for (const kind of KINDS.filter(({ name }) => !name.startsWith('WAV'))) {
    const whole = await made(kind);
    const broken = [whole.subarray(0, whole.length / 2), ...[0.02, 0.5].map(flipped(whole))];
    for (const input of broken) {
      const outcome = await convert(input, 'wav16k').catch((error: unknown) => error);
      if (!Buffer.isBuffer(outcome)) expect(outcome).toBeInstanceOf(ConversionError);
    }
  }
}, 60_000);

function flipped(whole: Buffer): (part: number) => Buffer {
  return (part) => {
    const copy = Buffer.from(whole);
    const at = Math.floor(part * copy.length);
    copy.fill(0xff, at, at + 64);
    return copy;
  };
}

async function worker(source: string): Promise<URL> {
  const path = join(await temporaryFolder(), 'worker.mjs');
  await writeFile(path, source);
  return pathToFileURL(path);
}

describe('a thread of its own', () => {
  test.each([
    ['takes too long', 'for (;;);', /too long/],
    ['takes too much memory', 'const a = []; for (;;) a.push(new Array(1e6).fill({}));', /memory/],
    ['breaks', 'throw new Error("/home/ann")', /its decoder failed/],
    ['ends without a word', 'process.exit(0)', /its decoder ended/],
  ])('that %s is stopped, and the next conversion has another', async (_what, source, message) => {
    const options = { workerFile: await worker(source), limitMs: 50_000 };
    const limited = source.startsWith('for') ? { ...options, limitMs: 300 } : options;
    // More of them than there are threads.
    const failures = await Promise.all(
      [1, 2, 3].map(() => convert(tone(0.1), 'wav', limited).catch((error: unknown) => error)),
    );
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(ConversionError);
      expect((failure as Error).message).toMatch(message);
      expect((failure as Error).message).not.toContain('ann');
    }
    expect(heard(await convert(tone(0.1), 'wav')).seconds).toBeCloseTo(0.1, 3);
  });

  test('ends with its caller, and so does waiting for one', async () => {
    const stuck = new BuiltInConverter({ workerFile: await worker('for (;;);') });
    const leaving = new AbortController();
    const outcomes = [1, 2, 3].map(() =>
      stuck.convert(inPieces(tone(0.1)), 'wav', leaving.signal).catch((error: unknown) => error),
    );
    setImmediate(() => leaving.abort('left'));
    expect(await Promise.all(outcomes)).toEqual(['left', 'left', 'left']);
    expect(heard(await convert(tone(0.1), 'wav')).seconds).toBeCloseTo(0.1, 3);
  });
});

test('ffmpeg comes first where it is there, but for Opus that it does not make', async () => {
  const told = new Error('ffmpeg was asked');
  const ffmpeg = { makesOpus: false, convert: () => Promise.reject(told) };
  const { signal } = new AbortController();
  const poor = converterOf(ffmpeg);
  await expect(poor.convert(inPieces(tone(0.1)), 'wav', signal)).rejects.toBe(told);
  const opus = await poor.convert(inPieces(tone(0.1)), 'opus', signal);
  expect(opus.contentType).toBe('audio/ogg');
  await opus.dispose();
  const able = converterOf({ ...ffmpeg, makesOpus: true });
  await expect(able.convert(inPieces(tone(0.1)), 'opus', signal)).rejects.toBe(told);
  expect(detectFormat(tone(0.1))).toBe('wav');
});
