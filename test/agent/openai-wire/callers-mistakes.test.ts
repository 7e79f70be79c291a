/** Messages of local servers that use a status of their own failure for a wrong request. */
import {
  errorDocument,
  errorInSuccess,
  readReportedError,
} from '@inference-gateway/agent/openai-wire/error-document';
import type { DocumentAnswer } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import { read, chat, streamed } from './answers.js';

const llama = (message: string) => ({ error: { code: 500, message, type: 'server_error' } });

/** As each server writes it; the last column is what the caller reads. */
const MISTAKES: readonly [string, unknown, string][] = [
  [
    'llama-server without a projector, an image',
    llama('image input is not supported - hint: if this is unexpected, you may need the mmproj'),
    'image input is not supported - hint',
  ],
  [
    'the same, a sound',
    llama('audio input is not supported - hint: you may need to provide the mmproj'),
    'audio input is not supported',
  ],
  ['llama-server, an address', llama('url must be base64 encoded'), 'url must be base64 encoded'],
  ['llama-server, tools', llama('tools param requires --jinja flag'), 'tools param requires'],
  [
    'llama-server, roles that its template refuses',
    llama('Jinja Exception: Conversation roles must alternate user/assistant/user'),
    'must alternate',
  ],
  [
    'llama-server, JSON of the wrong type',
    llama('[json.exception.type_error.302] type must be string, but is number'),
    'type must be string',
  ],
  [
    'llama-server, a body that is no JSON',
    llama('[json.exception.parse_error.101] parse error at line 1'),
    'parse error at line 1',
  ],
  [
    'sd-server, a number that is text',
    {
      error: 'server_error',
      message: '[json.exception.type_error.302] type must be number, but is string',
    },
    'type must be number',
  ],
  [
    'Ollama, an image',
    {
      error: { message: 'this model is missing data required for image input', type: 'api_error' },
    },
    'missing data required for image input',
  ],
  [
    'vLLM behind a proxy',
    { error: { message: 'At most 0 image(s) may be provided in one prompt.' } },
    'At most 0 image(s)',
  ],
  ['vLLM, older', { error: { message: 'tiny is not a multimodal model' } }, 'not a multimodal'],
  [
    'LM Studio',
    { error: 'Model does not support images. Please use a model that does.' },
    'does not support images',
  ],
  [
    'LM Studio on MLX',
    {
      error: {
        message: 'ValueError: Vision add-on is not loaded, but images were provided for processing',
      },
    },
    'Vision add-on is not loaded',
  ],
  [
    'LocalAI, with the words of what is behind it',
    {
      error: {
        code: 500,
        message: 'rpc error: code = Unknown desc = image input is not supported',
      },
    },
    'image input is not supported',
  ],
  [
    'KoboldCpp',
    { detail: { msg: 'Error parsing input.', type: 'bad_input' } },
    'Error parsing input.',
  ],
];

/** Failures of the server itself, some with the same words in them. */
const FAILURES: readonly [string, number, unknown][] = [
  ['no memory', 500, llama('CUDA out of memory while encoding image')],
  ['an answer that is no UTF-8', 500, llama('[json.exception.type_error.316] invalid UTF-8 byte')],
  ['a failed decode', 500, llama('failed to decode image batch')],
  ['a crash', 500, { error: 'the model runner has unexpectedly stopped' }],
  ['not now', 503, llama('image input is not supported while loading')],
];

function errorOf({ status, json }: DocumentAnswer) {
  return { status, ...(JSON.parse(json) as { error: { message: string; code: string } }).error };
}

describe('a request that its local server cannot take', () => {
  test.each(MISTAKES)('%s', (_, body, message) => {
    const told = errorOf(errorDocument(500, JSON.stringify(body)));
    expect(told).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'provider_rejected',
    });
    expect(told.message).toContain(message);
    const inSuccess = readReportedError(body);
    expect(inSuccess && errorInSuccess(inSuccess).status).toBe(400);
  });

  test('is told without paths of the machine', () => {
    const message = 'failed to load image /home/anna/models/mmproj.gguf';
    const told = errorOf(errorDocument(500, JSON.stringify(llama(message))));
    expect(told).toMatchObject({ status: 400, message: 'failed to load image …' });
  });

  test('is told by a status, too, where the stream has begun with it', async () => {
    const event = `data: ${JSON.stringify(llama('image input is not supported'))}\n\n`;
    await expect(streamed([event])).rejects.toMatchObject({ answer: { status: 400 } });
    expect(await read([event], { ...chat, stream: false })).toMatchObject({ status: 400 });
  });
});

describe('a failure of its own stays one', () => {
  test.each(FAILURES)('%s', (_, status, body) => {
    expect(errorDocument(status, JSON.stringify(body)).status).toBe(status);
  });
});
