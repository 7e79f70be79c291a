import { renderTranscript } from '@inference-gateway/coordinator/http/answers/transcript';
import type { TranscriptForm } from '@inference-gateway/coordinator/http/answers/transcript';
import { describe, expect, it } from 'vitest';

const WORD = { word: 'Hi', start: 0, end: 0.4 };
const SEGMENT = { id: 0, start: 0, end: 0.4, text: 'Hi', avg_logprob: -0.2 };
/** With what OpenAI's own segments hold beside it. */
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

async function render(form: Partial<TranscriptForm>, spoken: unknown = SPOKEN) {
  const seconds = Promise.resolve(3.4567);
  const filled: TranscriptForm = { format: 'json', granularities: [], seconds, ...form };
  const bytes = Buffer.from(typeof spoken === 'string' ? spoken : JSON.stringify(spoken));
  const rendered = await renderTranscript(filled)(bytes);
  if (typeof rendered === 'string') return rendered;
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

describe('its duration', () => {
  it('is the provider’s only where the file could not be measured', async () => {
    const seconds = Promise.resolve(null);
    expect(await render({ seconds })).toMatchObject({ body: { duration: 99 } });
    expect(await render({ seconds }, { text: 'x' })).toMatchObject({ body: { duration: 0 } });
  });

  it('is none of the provider’s where that makes no sense', async () => {
    const seconds = Promise.resolve(null);
    for (const duration of [-1, 'long', 1e12]) {
      const rendered = await render({ seconds }, { text: 'x', duration });
      expect(rendered).toMatchObject({ body: { duration: 0 }, measures: { audioMs: 0 } });
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
    const rendered = await renderTranscript(form)(document);
    if (typeof rendered === 'string') throw new Error(rendered);
    expect(JSON.parse(rendered.body.toString())).toMatchObject({ text: 'hi', words: [] });
  });

  it('more than 8 MiB is none', async () => {
    const document = Buffer.from(JSON.stringify({ text: 'x'.repeat(8 * 1024 * 1024) }));
    expect(await renderTranscript(form)(document)).toBe('it is longer than 8 MiB');
  });
});
