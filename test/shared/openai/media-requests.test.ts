import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import { parseForm, parseRequest } from '@inference-gateway/shared/openai/requests';
import { describe, expect, test } from 'vitest';

const LIMITS = { maxImages: 4, maxSpeechCharacters: 20 };

const parse = (endpoint: EndpointKey, body: object) => parseRequest(endpoint, body, LIMITS);
const form = (endpoint: EndpointKey, fields: Record<string, string[]>) =>
  parseForm(endpoint, new Map(Object.entries(fields)), LIMITS);

const image = (fields: object) => parse('images', { model: 'sd', prompt: 'a cat', ...fields });
const speech = (fields: object) => parse('speech', { model: 'kokoro', input: 'hi', ...fields });

function faultOf(act: () => unknown): Pick<ApiError, 'code' | 'param' | 'message'> {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('images', () => {
  test.each([
    [undefined, 1],
    [null, 1],
    [-3, 1],
    [0, 1],
    [3, 3],
    [99, 4],
  ])('n %s is clamped to %i', (n, clamped) => {
    expect(image({ n }).body['n']).toBe(clamped);
  });

  test.each(['2', 1.5, true])('n %j is no number of images', (n) => {
    expect(faultOf(() => image({ n }))).toMatchObject({ code: 'invalid_type', param: 'n' });
  });

  test.each(['64x64', '1024x768', '4096x4096'])('size %s is passed on', (size) => {
    expect(image({ size }).body['size']).toBe(size);
  });

  test.each(['63x64', '64x4097', '512', 'x512', '512x', '512 x 512', '-64x64', 'large', ''])(
    'size %j is refused',
    (size) => {
      const fault = faultOf(() => image({ size }));
      expect(fault).toMatchObject({ code: 'invalid_value', param: 'size' });
      expect(fault.message).toContain('64 to 4096');
    },
  );

  test('size auto leaves the choice to the model', () => {
    expect(image({ size: 'auto' }).body['size']).toBeNull();
  });

  test('the answer’s form is the gateway’s matter and does not reach the provider', () => {
    const { body, responseFormat } = image({ response_format: 'b64_json', seed: 7 });
    expect(responseFormat).toBe('b64_json');
    expect(body).toEqual({ model: 'sd', prompt: 'a cat', n: 1, seed: 7 });
  });

  test('any other form is refused', () => {
    const fault = faultOf(() => image({ response_format: 'png' }));
    expect(fault).toMatchObject({ code: 'invalid_value', param: 'response_format' });
  });

  test('a stream of partial images is not offered', () => {
    const fault = faultOf(() => image({ stream: true }));
    expect(fault).toMatchObject({ code: 'unsupported_value', param: 'stream' });
    expect(image({ stream: false }).stream).toBe(false);
  });

  test.each([
    [{ image: 'https://example.org/cat.png' }, 'image'],
    [{ init_image: '/etc/passwd' }, 'init_image'],
    [{ mask: 'file:///etc/passwd' }, 'mask'],
    [{ extra: { image_url: 'http://127.0.0.1/' } }, 'extra.image_url'],
    [{ images: ['data:image/png;base64,AA', 'http://a/'] }, 'images[1]'],
  ])('a picture by another address than a data: URL is refused: %j', (fields, param) => {
    expect(faultOf(() => image(fields))).toMatchObject({ code: 'unsupported_value', param });
  });

  test('a prompt may speak of an address', () => {
    expect(image({ prompt: 'https://example.org/' }).body['prompt']).toBe('https://example.org/');
  });
});

describe('speech', () => {
  test('passes the format on and drops what says how to stream', () => {
    const request = speech({ response_format: 'opus', stream: true, stream_format: 'audio' });
    expect(request).toMatchObject({ stream: false, responseFormat: 'opus' });
    expect(request.body).toEqual({ model: 'kokoro', input: 'hi', response_format: 'opus' });
  });

  test('events instead of audio are not offered', () => {
    const fault = faultOf(() => speech({ stream_format: 'sse' }));
    expect(fault).toMatchObject({ code: 'unsupported_value', param: 'stream_format' });
  });

  test('an input at the limit passes, and one character more is too large', () => {
    expect(speech({ input: 'x'.repeat(20) }).body['input']).toHaveLength(20);
    const fault = faultOf(() => speech({ input: 'x'.repeat(21) }));
    expect(fault).toMatchObject({ code: 'body_too_large', param: 'input' });
    expect(fault.message).toContain('21');
  });

  test.each([
    [{ input: '' }, 'input'],
    [{ response_format: 'ogg' }, 'response_format'],
    [{ speed: 9 }, 'speed'],
    [{ voice: 5 }, 'voice'],
  ])('%j is refused', (fields, param) => {
    expect(faultOf(() => speech(fields)).param).toBe(param);
  });
});

describe('video and music', () => {
  test.each(['videos', 'music'] as const)('%s: url is the gateway’s matter', (endpoint) => {
    const request = parse(endpoint, { model: 'm', prompt: 'x', response_format: 'url' });
    expect(request.responseFormat).toBe('url');
    expect(request.body).toEqual({ model: 'm', prompt: 'x' });
  });

  test('an opening picture is a data: URL', () => {
    const image = 'data:image/png;base64,AAAA';
    expect(parse('videos', { model: 'm', prompt: 'x', image }).body['image']).toBe(image);
    const foreign = faultOf(() => parse('videos', { model: 'm', prompt: 'x', image: 'http://a/' }));
    expect(foreign).toMatchObject({ code: 'unsupported_value', param: 'image' });
  });

  test.each([
    ['videos', { duration: 0 }, 'duration'],
    ['videos', { fps: 1.5 }, 'fps'],
    ['videos', { width: 32 }, 'width'],
    ['videos', { response_format: 'gif' }, 'response_format'],
    ['music', { audio_duration: 601 }, 'audio_duration'],
    ['music', { lyrics: 5 }, 'lyrics'],
  ] as const)('%s %j is refused', (endpoint, fields, param) => {
    const fault = faultOf(() => parse(endpoint, { model: 'm', prompt: 'x', ...fields }));
    expect(fault.param).toBe(param);
  });
});

describe('forms', () => {
  test('timestamp_granularities is accepted with and without []', () => {
    const granularities = ['word', 'segment'];
    for (const name of ['timestamp_granularities', 'timestamp_granularities[]']) {
      const { body } = form('transcriptions', { model: ['whisper'], [name]: granularities });
      expect(body['timestamp_granularities']).toEqual(granularities);
    }
  });

  test('an unknown granularity is named', () => {
    const fields = { model: ['whisper'], 'timestamp_granularities[]': ['word', 'letter'] };
    const fault = faultOf(() => form('transcriptions', fields));
    expect(fault).toMatchObject({ code: 'invalid_value', param: 'timestamp_granularities[1]' });
  });

  test('an empty field is none, and of a repeated one the last counts', () => {
    const { body } = form('transcriptions', { model: ['a', 'whisper'], language: [''] });
    expect(body).toMatchObject({ model: 'whisper', language: null });
  });

  test('numbers are read from text', () => {
    const { body } = form('edits', { model: ['sd'], prompt: ['x'], n: ['9'], strength: ['0.5'] });
    expect(body).toMatchObject({ n: 4, strength: '0.5' });
    const fault = faultOf(() => form('edits', { model: ['sd'], prompt: ['x'], n: ['two'] }));
    expect(fault).toMatchObject({ code: 'invalid_type', param: 'n' });
  });

  test.each([
    ['edits', 'prompt'],
    ['voice', 'input'],
  ] as const)('%s without %s is refused', (endpoint, param) => {
    const fault = faultOf(() => form(endpoint, { model: ['m'] }));
    expect(fault).toMatchObject({ code: 'missing_required_parameter', param });
  });

  test.each(['true', 'True', '1'])('none runs as a job: async %s', (asked) => {
    const fault = faultOf(() => form('transcriptions', { model: ['whisper'], async: [asked] }));
    expect(fault).toMatchObject({ code: 'async_not_supported', param: 'async' });
  });

  test.each(['false', 'False', '0', ''])('async %j is no matter', (written) => {
    const { async: asked, body } = form('transcriptions', { model: ['w'], async: [written] });
    expect(asked).toBe(false);
    expect(body).not.toHaveProperty('async');
  });

  test('any other async is refused', () => {
    const fault = faultOf(() => form('transcriptions', { model: ['w'], async: ['later'] }));
    expect(fault).toMatchObject({ code: 'invalid_type', param: 'async' });
  });
});

test('no endpoint takes an address in the place of media', () => {
  const fields = { model: ['m'], prompt: ['x'], input: ['x'], image_url: ['http://10.0.0.1/'] };
  for (const endpoint of ['transcriptions', 'edits', 'voice'] as const) {
    const fault = faultOf(() => form(endpoint, fields));
    expect(fault).toMatchObject({ code: 'unsupported_value', param: 'image_url' });
  }
  const fault = faultOf(() => speech({ reference_audio: 'http://192.168.0.1/a' }));
  expect(fault).toMatchObject({ code: 'unsupported_value', param: 'reference_audio' });
});
