import { ApiError } from '@inference-gateway/shared/errors';
import { parseForm, parseRequest } from '@inference-gateway/shared/openai/requests';
import { describe, expect, test } from 'vitest';

const LIMITS = { maxImages: 4, maxSpeechCharacters: 20 };
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const HOOK = { url: 'https://example.org/hook', secret: SECRET };

const chat = (fields: object) =>
  parseRequest(
    'chat',
    { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...fields },
    LIMITS,
  );

describe('the webhook of a request', () => {
  test.each([true, false, undefined])('is taken out of the body where async is %s', (async) => {
    const request = chat({ async, webhook: HOOK });
    expect(request.webhook).toEqual(HOOK);
    expect(request.body).not.toHaveProperty('webhook');
    expect(request.body).not.toHaveProperty('async');
  });

  test.each([undefined, null])('%s is none', (webhook) => {
    const request = chat({ webhook });
    expect(request.webhook).toBeNull();
    expect(request.body).not.toHaveProperty('webhook');
  });

  test('is taken out of media requests, too', () => {
    const fields = { model: 'sd', prompt: 'a cat', webhook: HOOK };
    const request = parseRequest('images', fields, LIMITS);
    expect(request.webhook).toEqual(HOOK);
    expect(request.body).toEqual({ model: 'sd', prompt: 'a cat', n: 1 });
  });

  test('is checked wherever it stands, and its secret is never repeated', () => {
    const secret = 'whsec_short';
    let fault: unknown;
    try {
      chat({ webhook: { ...HOOK, secret } });
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(ApiError);
    expect(fault).toMatchObject({ status: 400, param: 'webhook.secret' });
    expect(String(fault)).not.toContain(secret);
  });

  test('is no field of a form', () => {
    const fields = new Map([
      ['model', ['m']],
      ['webhook', [JSON.stringify(HOOK)]],
    ]);
    const request = parseForm('transcriptions', fields, LIMITS);
    expect(request.webhook).toBeNull();
    expect(request.body).toEqual({ model: 'm' });
  });
});

test('completions with messages name no address, as some servers fetch what is named there', () => {
  const content = [{ type: 'image_url', image_url: { url: 'http://10.0.0.1/x.png' } }];
  const body = { model: 'm', prompt: '', messages: [{ role: 'user', content }] };
  const param = 'messages[0].content[0].image_url.url';
  expect(() => parseRequest('completions', body, LIMITS)).toThrow(
    expect.objectContaining({ code: 'unsupported_value', message: expect.stringContaining(param) }),
  );
});
