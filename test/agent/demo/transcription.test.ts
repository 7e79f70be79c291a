import { beforeAll, describe, expect, test } from 'vitest';
import { demoClient, refusalOf } from './demo-client.js';
import type { DemoClient } from './demo-client.js';

const TEXT = 'Grüße vom Rechner. How are you today? Fine';

let demo: DemoClient;

beforeAll(async () => {
  demo = await demoClient();
  return () => demo.close();
});

async function recordingOf(input: string): Promise<Buffer> {
  const answer = await demo.post('/audio/speech', { model: 'demo-voice', input });
  return Buffer.from(await answer.arrayBuffer());
}

interface Fields {
  readonly [name: string]: string | readonly string[];
}

function transcribe(file: Buffer, fields: Fields = {}): Promise<Response> {
  const form = new FormData();
  form.set('file', new File([file], 'recording.bin'));
  form.set('model', 'demo-whisper');
  for (const [name, value] of Object.entries(fields)) {
    for (const one of [value].flat()) form.append(name, one);
  }
  return demo.post('/audio/transcriptions', form);
}

async function verbose(file: Buffer, fields: Fields = {}): Promise<Record<string, unknown>> {
  const answer = await transcribe(file, { response_format: 'verbose_json', ...fields });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/** A WAV file of another program: stereo, 8,000 samples a second, with its own comment. */
function foreignWav(seconds: number, dataSize = seconds * 32_000): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF\0\0\0\0WAVEfmt ', 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(dataSize, 40);
  const comment = Buffer.from('LIST\x18\0\0\0INFOICMT\x0b\0\0\0not speech\0\0', 'latin1');
  return Buffer.concat([head, Buffer.alloc(seconds * 32_000), comment]);
}

test.each([
  ['with umlauts', TEXT],
  ['of an odd number of bytes', 'odd'],
  ['of an even one', 'even'],
  ['with its spaces', ' spaces \n stay '],
  ['of another script', '你好，世界'],
  ['of 400 words', 'word '.repeat(400)],
])('gives the very text of a demo recording back: %s', async (_, text) => {
  const answer = await transcribe(await recordingOf(text));
  expect(await answer.json()).toEqual({ text });
});

test('the OpenAI client reads it in each form', async () => {
  const bytes = await recordingOf(TEXT);
  const { transcriptions } = demo.openai.audio;
  const request = { model: 'demo-whisper', file: new File([bytes], 'Gruß "1".wav') };
  expect((await transcriptions.create(request)).text).toBe(TEXT);
  const text = await transcriptions.create({ ...request, response_format: 'text' });
  expect(text).toBe(`${TEXT}\n`);
  const whole = await transcriptions.create({
    ...request,
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  });
  expect(whole).toMatchObject({ task: 'transcribe', language: 'en', duration: 2, text: TEXT });
  expect(whole.words).toHaveLength(8);
  expect(whole.segments).toHaveLength(3);
});

describe('verbose_json', () => {
  test('has a segment a sentence, and each takes the time of its words', async () => {
    const { segments } = await verbose(await recordingOf(TEXT));
    expect(segments).toMatchObject([
      { id: 0, start: 0, end: 0.75, text: 'Grüße vom Rechner.' },
      { id: 1, start: 0.75, end: 1.75, text: 'How are you today?' },
      { id: 2, start: 1.75, end: 2, text: 'Fine' },
    ]);
  });

  test('has words where they sound', async () => {
    const fields = { 'timestamp_granularities[]': 'word' };
    const { words, duration } = await verbose(await recordingOf('one two three'), fields);
    expect(duration).toBe(0.75);
    expect(words).toEqual([
      { word: 'one', start: 0, end: 0.25 },
      { word: 'two', start: 0.25, end: 0.5 },
      { word: 'three', start: 0.5, end: 0.75 },
    ]);
  });

  test.each([
    ['nothing', {}, ['segments']],
    ['segments', { timestamp_granularities: 'segment' }, ['segments']],
    ['words', { timestamp_granularities: 'word' }, ['words']],
    ['both', { 'timestamp_granularities[]': ['word', 'segment'] }, ['segments', 'words']],
  ])('with %s asked holds exactly that', async (_, fields, expected) => {
    const answer = await verbose(await recordingOf('hi'), fields);
    expect(['segments', 'words'].filter((name) => name in answer)).toEqual(expected);
  });

  test('takes the language that the request names', async () => {
    expect(await verbose(await recordingOf('hallo'), { language: 'de' })).toMatchObject({
      language: 'de',
    });
  });
});

describe('of any other file tells its length:', () => {
  const cutWav = foreignWav(1).subarray(0, 30);

  test.each([
    ['seconds of another program’s WAV', foreignWav(2), 'A recording of 2.0 seconds.'],
    ['only what is there of one cut short', foreignWav(0, 64_000), 'A recording of 0.0 seconds.'],
    ['bytes of no audio at all', Buffer.alloc(12_345, 1), 'A recording of 12,345 bytes.'],
    ['bytes of a WAV that ends in its header', cutWav, 'A recording of 30 bytes.'],
    ['bytes of nothing', Buffer.alloc(0), 'A recording of 0 bytes.'],
  ])('%s', async (_, file, text) => {
    expect(await (await transcribe(file)).json()).toEqual({ text });
  });

  test('in seconds up to the end where a streamed header does not know it', async () => {
    const streamed = foreignWav(3, 0xffff_ffff);
    const { duration } = await verbose(streamed.subarray(0, 44 + 3 * 32_000));
    expect(duration).toBe(3);
  });

  test('without a duration where it is not known, which is no measurement', async () => {
    expect(await verbose(Buffer.from('OggS'))).not.toHaveProperty('duration');
  });

  test('of a file of nothing but empty chunks, at once', async () => {
    const empty = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(8_000_000)]);
    expect((await verbose(empty))['text']).toBe('A recording of 8,000,012 bytes.');
  });
});

describe('refuses, naming the field:', () => {
  const wav = foreignWav(1);
  test.each([
    ['an unknown format', { response_format: 'srt' }, 'response_format'],
    [
      'an unknown granularity',
      { response_format: 'verbose_json', timestamp_granularities: 'line' },
      'timestamp_granularities',
    ],
  ])('%s', async (_, fields, param) => {
    expect(await refusalOf(await transcribe(wav, fields))).toMatchObject({ status: 400, param });
  });

  test('a missing file, a file that is text, and a model of another type', async () => {
    const form = new FormData();
    form.set('model', 'demo-whisper');
    const ask = async () => refusalOf(await demo.post('/audio/transcriptions', form));
    expect(await ask()).toMatchObject({ status: 400, param: 'file' });
    form.set('file', 'not a file');
    expect(await ask()).toMatchObject({ status: 400, param: 'file' });
    form.set('model', 'demo-voice');
    expect(await ask()).toMatchObject({ status: 404, param: 'model' });
  });

  test('what is no form', async () => {
    const answer = await demo.post('/audio/transcriptions', { model: 'demo-whisper' });
    expect(await refusalOf(answer)).toMatchObject({ status: 400, param: null });
  });

  test('a body beyond 32 MiB, with an answer that the sender can still read', async () => {
    const { status, message } = await refusalOf(await transcribe(Buffer.alloc(33 * 2 ** 20)));
    expect(status).toBe(413);
    expect(message).toContain('32 MiB');
  });
});

test('takes a recording of 25 MiB', async () => {
  const answer = await transcribe(Buffer.alloc(26_214_400, 1));
  expect(await answer.json()).toEqual({ text: 'A recording of 26,214,400 bytes.' });
});
