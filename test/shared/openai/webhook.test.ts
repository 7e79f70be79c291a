import { ApiError } from '@inference-gateway/shared/errors';
import { parseWebhook } from '@inference-gateway/shared/openai/webhook';
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';

const SECRET = secretOf(32);
const URL_ = 'https://example.org/hook?id=7';

describe('a webhook is taken', () => {
  test.each([
    URL_,
    'http://192.168.0.7:8080/',
    'HTTPS://example.org',
    'http://[2606:4700::1111]/hook',
    `https://example.org/${'a'.repeat(2_028)}`,
  ])('with the url %s', (url) => {
    expect(parseWebhook({ url, secret: SECRET })).toEqual({ url, secret: SECRET });
  });

  test.each([24, 25, 26, 32, 63, 64])('with a secret of %i bytes', (bytes) => {
    const secret = secretOf(bytes);
    expect(parseWebhook({ url: URL_, secret })).toEqual({ url: URL_, secret });
  });

  test.each([[undefined], [null]])('for none where it is %s', (value) => {
    expect(parseWebhook(value)).toBeNull();
  });

  test('without fields that it does not know', () => {
    expect(parseWebhook({ url: URL_, secret: SECRET, more: 1 })).toEqual({
      url: URL_,
      secret: SECRET,
    });
  });
});

describe('a url is refused', () => {
  test.each([
    ['that is no address', 'example.org/hook', /whole http or https address/],
    ['of another scheme', 'ftp://example.org/', /whole http or https address/],
    ['that names a file', 'file:///etc/passwd', /whole http or https address/],
    ['without its slashes', 'https:example.org', /whole http or https address/],
    ['with backslashes', 'https://example.org\\@other.example', /whole http or https address/],
    ['with a line break', 'https://example.org/\nx', /whole http or https address/],
    ['without a host', 'http://', /whole http or https address/],
    ['with a user name', 'https://anna@example.org/', /no user name or password/],
    ['with a password', 'https://:hunter2@example.org/', /no user name or password/],
    ['with a fragment', 'https://example.org/#top', /no #fragment/],
    ['with an empty fragment', 'https://example.org/#', /no #fragment/],
    ['that is too long', `https://example.org/${'a'.repeat(2_029)}`, /2049 characters/],
  ])('%s', (_, url, message) => {
    const error = refusalOf({ url, secret: SECRET });
    expect(error).toMatchObject({ code: 'invalid_value', param: 'webhook.url' });
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/hunter2|anna/);
  });

  test('that is not there', () => {
    const expected = { code: 'missing_required_parameter', param: 'webhook.url' };
    expect(refusalOf({ secret: SECRET })).toMatchObject(expected);
    expect(refusalOf({ url: null, secret: SECRET })).toMatchObject(expected);
  });

  test('that is no text', () => {
    const expected = { code: 'invalid_type', param: 'webhook.url' };
    expect(refusalOf({ url: 7, secret: SECRET })).toMatchObject(expected);
  });
});

describe('a secret is refused', () => {
  const bare = SECRET.slice('whsec_'.length);
  test.each([
    ['without its prefix', bare],
    ['with another prefix', `whpk_${bare}`],
    ['too short', secretOf(23)],
    ['too long', secretOf(65)],
    ['empty', 'whsec_'],
    ['without its padding', SECRET.replace(/=+$/, '')],
    ['in the alphabet of URLs', `whsec_${'-_'.repeat(16)}`],
    ['with a line break behind it', `${SECRET}\n`],
    ['that is a number', 123_456_789],
    ['that is a list of one', [SECRET]],
    ['that is an object', { toString: 1 }],
  ])('%s, and not repeated', (_, secret) => {
    const error = refusalOf({ url: URL_, secret });
    expect(error).toMatchObject({ code: 'invalid_value', param: 'webhook.secret' });
    expect(error.message).toContain(`'webhook.secret' is "…": it must be whsec_`);
    expect(error.message).not.toContain(bare.slice(0, 8));
    expect(error.message).not.toContain('123456');
  });

  test('that is not there', () => {
    const expected = { code: 'missing_required_parameter', param: 'webhook.secret' };
    expect(refusalOf({ url: URL_ })).toMatchObject(expected);
  });

  test('that stands where the object belongs, and not repeated', () => {
    const error = refusalOf(SECRET);
    expect(error).toMatchObject({ code: 'invalid_type', param: 'webhook' });
    expect(error.message).toBe(`'webhook' is "…": it must be an object with url and secret.`);
  });
});

function secretOf(bytes: number): string {
  return `whsec_${randomBytes(bytes).toString('base64')}`;
}

function refusalOf(value: unknown): ApiError {
  try {
    parseWebhook(value);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was taken');
}
