import { renderTranscript } from '@inference-gateway/coordinator/http/answers/transcript';
import { LargeBodies } from '@inference-gateway/coordinator/http/bodies/large-bodies';
import type { TranscriptForm } from '@inference-gateway/coordinator/http/answers/transcript';
import { ApiError } from '@inference-gateway/shared/errors';
import { afterAll, describe, expect, it } from 'vitest';

const WORD = { word: 'Hi', start: 0, end: 0.4 };
const SEGMENT = { id: 0, start: 0, end: 0.4, text: 'Hi', avg_logprob: -0.2 };
/** With the other fields of OpenAI's segments. */
const FILLED = {
  ...SEGMENT,
  seek: 0,
  tokens: [],
  temperature: 0,
  compression_ratio: 0,
  no_speech_prob: 0,
};
const SPOKEN = {
  text: 'Hi ä',
  language: 'de',
  duration: 99,
  segments: [SEGMENT],
  words: [{ ...WORD, probability: 1 }],
};

const large = new LargeBodies();
afterAll(() => large.close());

function shown(form: TranscriptForm, document: Buffer) {
  const render = renderTranscript(form, (bytes, facts) =>
    large.renderTranscript(bytes, 'member', facts),
  );
  return render(document);
}

async function render(form: Partial<TranscriptForm>, spoken: unknown = SPOKEN) {
  const seconds = Promise.resolve(3.4567);
  const filled: TranscriptForm = { format: 'json', granularities: [], seconds, ...form };
  const bytes = Buffer.from(typeof spoken === 'string' ? spoken : JSON.stringify(spoken));
  const rendered = await shown(filled, bytes);
  if (typeof rendered === 'string' || rendered instanceof ApiError) return rendered;
  const isJson = rendered.contentType.startsWith('application/json');
  const body = rendered.body.toString();
  return { ...rendered, body: isJson ? (JSON.parse(body) as object) : body };
}

const usage = { type: 'duration', seconds: 3.457 };
const measures = { audioMs: 3457, images: 0 };

describe('a transcript is shown', () => {
  it.each<[string, Partial<TranscriptForm>, object]>([
    ['as json', {}, { text: 'Hi ä', language: 'de', duration: 3.457, usage }],
    ['downgraded', { format: 'downgraded' }, { text: 'Hi ä', usage }],
    [
      'with its segments alone',
      { format: 'verbose_json', granularities: ['segment'] },
      { text: 'Hi ä', language: 'de', duration: 3.457, segments: [FILLED], usage },
    ],
    [
      'with its words alone',
      { format: 'verbose_json', granularities: ['word'] },
      { text: 'Hi ä', language: 'de', duration: 3.457, words: [WORD], usage },
    ],
  ])('%s', async (_, form, body) => {
    const contentType = 'application/json; charset=utf-8';
    expect(await render(form)).toEqual({ contentType, body, measures });
  });

  it('as text, byte for byte', async () => {
    const contentType = 'text/plain; charset=utf-8';
    expect(await render({ format: 'text' })).toEqual({ contentType, body: 'Hi ä', measures });
  });

  it('without a language that nobody knows, with empty lists where there are none', async () => {
    const form = { format: 'verbose_json', granularities: ['word', 'segment'] } as const;
    expect(await render(form, { text: '', language: null })).toMatchObject({
      body: { text: '', duration: 3.457, segments: [], words: [], usage },
    });
    expect(await render(form, { text: 'x', words: 'none' })).toMatchObject({ body: { words: [] } });
    expect(JSON.stringify(await render(form, { text: 'x' }))).not.toContain('language');
  });
});

it('a segment that says little is filled up, so that stock clients take it', async () => {
  const form = { format: 'verbose_json', granularities: ['segment'] } as const;
  const segments = [
    { text: 'a', seek: null },
    { id: 7, speaker: 'x', tokens: [1] },
  ];
  const { id: _id, avg_logprob: _logprob, ...filled } = FILLED;
  const said = { ...filled, avg_logprob: 0, start: 0, end: 0 };
  expect(await render(form, { text: 'a', segments })).toMatchObject({
    body: {
      segments: [
        { ...said, id: 0, text: 'a' },
        { ...said, id: 7, text: '', speaker: 'x', tokens: [1] },
      ],
    },
  });
});

describe('subtitles are made of the segments', () => {
  const segments = [
    { id: 0, start: 0, end: 1.5, text: ' Fish & chips' },
    { id: 1, start: 1.5, end: 1.5, text: '  \n ' },
    { id: 2, start: 3661.0004, end: 3662.9996, text: '<b>two\n\nlines' },
  ];

  it('as SRT', async () => {
    expect(await render({ format: 'srt' }, { text: 'x', segments })).toEqual({
      contentType: 'application/x-subrip; charset=utf-8',
      body:
        '1\n00:00:00,000 --> 00:00:01,500\nFish & chips\n\n' +
        '2\n01:01:01,000 --> 01:01:03,000\n<b>two lines\n\n',
      measures,
    });
  });

  it('as WebVTT, whose marks are escaped', async () => {
    expect(await render({ format: 'vtt' }, { text: 'x', segments })).toEqual({
      contentType: 'text/vtt; charset=utf-8',
      body:
        'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nFish &amp; chips\n\n' +
        '01:01:01.000 --> 01:01:03.000\n&lt;b&gt;two lines\n\n',
      measures,
    });
  });

  it('of silence, which are none', async () => {
    expect(await render({ format: 'srt' }, { text: ' ' })).toMatchObject({ body: '' });
    expect(await render({ format: 'vtt' }, { text: '' })).toMatchObject({ body: 'WEBVTT\n\n' });
  });

  it.each(['srt', 'vtt'] as const)(
    'where there are none, %s is refused by name',
    async (format) => {
      for (const spoken of [{ text: 'x' }, { text: 'x', segments: [{ text: 'x' }] }]) {
        const refused = await render({ format }, spoken);
        expect(refused).toMatchObject({ code: 'unsupported_value', param: 'response_format' });
        expect((refused as ApiError).message).toContain(`'${format}'`);
      }
    },
  );
});

describe('its duration', () => {
  it('is the provider’s only where the file could not be measured', async () => {
    const seconds = Promise.resolve(null);
    expect(await render({ seconds })).toMatchObject({ body: { duration: 99 } });
    const unknown = await render({ seconds }, { text: 'x' });
    expect(unknown).toMatchObject({ body: { usage: { seconds: 0 } } });
    expect(unknown).not.toHaveProperty('body.duration');
  });

  it('is none of the provider’s where that makes no sense', async () => {
    const seconds = Promise.resolve(null);
    for (const duration of [-1, 'long', 1e12]) {
      const rendered = await render({ seconds }, { text: 'x', duration });
      expect(rendered).not.toHaveProperty('body.duration');
      expect(rendered).toMatchObject({ measures: { audioMs: 0 } });
    }
  });
});

it.each(['no JSON', '[]', '{}', '{"text":1}', 'null', ''])(
  '%j is no transcript',
  async (document) => {
    expect(await render({}, document)).toBe('it is no transcript');
  },
);

describe('what an agent may send instead of a transcript', () => {
  const plain = { granularities: ['word'], seconds: Promise.resolve(1) };
  const form = { ...plain, format: 'verbose_json' } as const;

  it('a million words that are none are no words, and cost nothing', async () => {
    const words = Array.from({ length: 1_000_000 }, () => 0);
    const document = Buffer.from(JSON.stringify({ text: 'hi', words }));
    const rendered = await shown(form, document);
    if (typeof rendered === 'string' || rendered instanceof ApiError) throw new Error('refused');
    expect(JSON.parse(rendered.body.toString())).toMatchObject({ text: 'hi', words: [] });
  });

  it('more than 8 MiB is none', async () => {
    const document = Buffer.from(JSON.stringify({ text: 'x'.repeat(8 * 1024 * 1024) }));
    expect(await shown(form, document)).toBe('it is longer than 8 MiB');
  });

  it('a hundred thousand segments are filled beside the loop, and not on it', async () => {
    const segments = Array.from({ length: 100_000 }, () => ({}));
    const document = Buffer.from(JSON.stringify({ text: 'hi', segments }));
    const wanted = { ...form, granularities: ['segment'] };
    const before = large.read;
    const rendered = await shown(wanted, document);
    if (typeof rendered === 'string' || rendered instanceof ApiError) throw new Error('refused');
    expect(large.read).toBe(before + 1);
    const { segments: filled } = JSON.parse(rendered.body.toString()) as { segments: unknown[] };
    expect(filled).toHaveLength(segments.length);
    expect(filled.at(-1)).toMatchObject({ id: 99_999, tokens: [] });
    expect(rendered.measures).toEqual({ audioMs: 1000, images: 0 });
  });

  it('what is wrong with a large one is said as of a small one', async () => {
    const words = Array.from({ length: 200_000 }, () => 'x');
    const wrong = Buffer.from(JSON.stringify({ words }));
    expect(await shown(form, wrong)).toBe('it is no transcript');
    const timeless = Buffer.from(JSON.stringify({ text: 'hi', words }));
    const subtitles = await shown({ ...form, format: 'srt' }, timeless);
    expect(subtitles).toMatchObject({ code: 'unsupported_value', param: 'response_format' });
  });
});

it('a transcript that is written out far longer than it came is refused', async () => {
  const segments = Array.from({ length: 299_000 }, () => ({}));
  const rendered = await render(
    { format: 'verbose_json', granularities: ['segment'] },
    { text: '', segments },
  );
  expect(rendered).toMatch(/longer than 32 MiB/);
});
