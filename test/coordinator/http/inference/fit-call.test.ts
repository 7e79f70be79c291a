import { voicesOf } from '@inference-gateway/coordinator/http/inference/fit-call';
import { relayedKind } from '@inference-gateway/coordinator/http/inference/kinds';
import type { ReadCall } from '@inference-gateway/coordinator/http/inference/read-call';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { parseForm, parseRequest } from '@inference-gateway/shared/openai/requests';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { describe, expect, it } from 'vitest';

const LIMITS = { maxImages: 4, maxSpeechCharacters: 5_000 };
const MODEL: AdvertisedModel = {
  id: 'm',
  served_name: 'm',
  context_length: null,
  input_modalities: [],
  output_modalities: [],
  supported_features: [],
  loaded: null,
};
const TIMED = { ...MODEL, supported_features: ['timestamps'] };
const VOICED = { ...MODEL, voices: ['af_bella', 'af_sky'] };

function uploaded(endpoint: EndpointKey, fields: Record<string, string | string[]>): ReadCall {
  const listed = Object.entries({ model: 'm', ...fields });
  const map = new Map(listed.map(([name, value]) => [name, [value].flat()]));
  const named = { name: 'file', filename: 'speech.flac', path: '' };
  const file = { ...named, contentType: 'audio/flac', bytes: 1, read: () => none() };
  return { request: parseForm(endpoint, map, LIMITS), files: [file], remove: async () => {} };
}

async function* none(): AsyncGenerator<Uint8Array> {}

function sent(endpoint: EndpointKey, body: object): ReadCall {
  const request = parseRequest(endpoint, { model: 'm', ...body }, LIMITS);
  return { request, files: [], remove: async () => {} };
}

const transcribe = (fields: Record<string, string | string[]>, models = [MODEL]) =>
  relayedKind('transcriptions').fit(uploaded('transcriptions', fields), () => models);

describe('a transcription', () => {
  const VERBOSE = { response_format: 'verbose_json' };

  it('is asked for as json, whatever is made of it, and prefers who handles its file', () => {
    for (const format of ['json', 'text']) {
      const { body, needs, headers, transcript } = transcribe({
        response_format: format,
        beam: '5',
      });
      expect(body).toEqual({ model: 'm', response_format: 'json', beam: '5' });
      expect(needs).toEqual({ features: [], voices: [], format: 'flac' });
      expect([headers, transcript]).toEqual([{}, { format, granularities: [] }]);
    }
  });

  it('is downgraded where timings are asked for and no model has them', () => {
    const { body, needs, headers, transcript } = transcribe({
      ...VERBOSE,
      'timestamp_granularities[]': ['word'],
    });
    expect(body).toEqual({ model: 'm', response_format: 'json' });
    expect(needs.features).toEqual([]);
    expect(headers).toEqual({ 'x-downgraded': 'verbose_json' });
    expect(transcript.format).toBe('downgraded');
  });

  it.each(['timestamp_granularities', 'timestamp_granularities[]'])(
    'needs timestamps where one model has them and %s asks for some',
    (name) => {
      const fitted = transcribe({ ...VERBOSE, [name]: ['word', 'segment'] }, [MODEL, TIMED]);
      expect(fitted.needs.features).toEqual(['timestamps']);
      expect(fitted.headers).toEqual({});
      expect(fitted.body).toMatchObject({ timestamp_granularities: ['word', 'segment'] });
      const granularities = ['word', 'segment'];
      expect(fitted.transcript).toEqual({ format: 'verbose_json', granularities });
    },
  );

  it('that names no timings has segments, and needs nothing', () => {
    const { needs, headers, transcript } = transcribe(VERBOSE);
    expect([needs.features, headers]).toEqual([[], {}]);
    expect(transcript).toEqual({ format: 'verbose_json', granularities: ['segment'] });
  });

  it.each(['srt', 'vtt'])('as %s needs segments, from who lists them where one does', (format) => {
    const timed = transcribe({ response_format: format }, [MODEL, TIMED]);
    expect(timed.needs.features).toEqual(['timestamps']);
    const verbose = { response_format: 'verbose_json', timestamp_granularities: ['segment'] };
    expect(timed.body).toMatchObject(verbose);
    expect(timed.transcript.format).toBe(format);
    expect(transcribe({ response_format: format }).needs.features).toEqual([]);
  });

  it('that names timings without verbose_json has none', () => {
    const { body, transcript } = transcribe({ timestamp_granularities: ['word'] }, [TIMED]);
    expect(body).toEqual({ model: 'm', response_format: 'json' });
    expect(transcript.format).toBe('json');
  });
});

const speak = (voice: string | null, models = [MODEL, VOICED]) =>
  relayedKind('speech').fit(sent('speech', { input: 'hi', voice }), () => models);

describe('speech', () => {
  it('needs the voice that was asked for', () => {
    const { needs, headers } = speak('af_sky');
    expect([needs.voices, needs.format, headers]).toEqual([['af_sky'], 'wav', {}]);
  });

  it('falls from one of OpenAI’s voices to the first, and says so', () => {
    const { body, needs, headers } = speak('alloy');
    expect([body['voice'], needs.voices]).toEqual(['af_bella', ['af_bella']]);
    expect(headers).toEqual({ 'x-voice-fallback': 'af_bella' });
  });

  it('of an unknown voice is refused with what there is', () => {
    expect(() => speak('af_bela')).toThrow("Try 'af_bella'");
    expect(() => speak('zzz')).toThrow("Try 'af_bella', 'af_sky'");
  });

  it('takes any voice where no provider tells its own', () => {
    expect(speak('zzz', [MODEL]).needs.voices).toEqual([]);
    expect(voicesOf([MODEL, VOICED, VOICED])).toEqual(['af_bella', 'af_sky']);
  });
});

describe('other calls', () => {
  it('a voice that is cloned needs a model that does it', () => {
    const call = uploaded('voice', { input: 'hi' });
    expect(relayedKind('voice').fit(call, () => [MODEL]).needs.features).toEqual(['voice-cloning']);
  });

  it.each<[EndpointKey, object]>([
    ['chat', { messages: [{ role: 'user', content: 'x' }] }],
    ['images', { prompt: 'x' }],
    ['music', { prompt: 'x' }],
  ])('%s goes as it is and needs nothing', (endpoint, body) => {
    const call = sent(endpoint, body);
    const fitted = relayedKind(endpoint).fit(call, () => {
      throw new Error('nobody needs the models');
    });
    expect(fitted.body).toBe(call.request.body);
    expect(fitted.needs).toEqual({ features: [], voices: [], format: null });
  });
});
