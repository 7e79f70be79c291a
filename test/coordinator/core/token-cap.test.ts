import { capTokens } from '@inference-gateway/coordinator/core/token-cap';
import { describe, expect, test } from 'vitest';

const CAP = 50;

function bytesOf(request: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ model: 'm', ...request }));
}

/** What the provider is asked, less the model. */
function capped(request: object) {
  const { body, maxTokens } = capTokens(bytesOf(request), 'chat', CAP);
  const { model, ...sent } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
  expect(model).toBe('m');
  return { sent, maxTokens };
}

describe('what is asked of a provider that gives 50 tokens', () => {
  test.each([
    ['nothing is asked for', {}, { max_tokens: CAP }],
    ['null stands for nothing', { max_tokens: null }, { max_tokens: CAP }],
    ['more is lowered', { max_tokens: 51 }, { max_tokens: CAP }],
    [
      'under its newer name as well, and the older is added, which every server knows',
      { max_completion_tokens: 4096 },
      { max_completion_tokens: CAP, max_tokens: CAP },
    ],
    [
      'of two, the one that is more is lowered',
      { max_tokens: 10, max_completion_tokens: 99 },
      { max_tokens: 10, max_completion_tokens: CAP },
    ],
    [
      'a limit that means none is lowered',
      { max_completion_tokens: -1 },
      { max_completion_tokens: CAP, max_tokens: CAP },
    ],
    [
      'what a server might read as a number is lowered',
      { max_completion_tokens: '4096' },
      { max_completion_tokens: CAP, max_tokens: CAP },
    ],
    [
      'the name that llama-server prefers opens no way round it',
      { max_tokens: 10, n_predict: -1 },
      { max_tokens: 10, n_predict: CAP },
    ],
  ])('%s', (_, asked, sent) => {
    expect(capped(asked)).toEqual({ sent, maxTokens: CAP });
  });

  test.each([
    ['as much', { max_tokens: CAP }],
    ['less', { max_tokens: 1 }],
    ['less, by both names', { max_tokens: 2, max_completion_tokens: 3 }],
  ])('%s is sent as it came, byte for byte', (_, asked) => {
    const body = bytesOf(asked);
    expect(capTokens(body, 'chat', CAP)).toEqual({ body, maxTokens: null });
    expect(capTokens(body, 'chat', CAP).body).toBe(body);
  });

  test.each([
    ['max_completion_tokens', { max_completion_tokens: 7 }],
    ['n_predict', { n_predict: 7 }],
  ])(
    'less by %s alone is what the caller gets, also from servers that do not know it',
    (...row) => {
      const [, asked] = row;
      expect(capped(asked)).toEqual({ sent: { ...asked, max_tokens: 7 }, maxTokens: null });
    },
  );

  test('several choices share the cap, and so do those of which the best is sent', () => {
    const four = { sent: { n: 4, max_tokens: 12 }, maxTokens: 12 };
    expect(capped({ n: 4, max_tokens: 40 })).toEqual(four);
    expect(capped({ n_cmpl: 4, max_tokens: 40 }).sent).toEqual({ n_cmpl: 4, max_tokens: 12 });
    expect(capped({ n: '4', max_tokens: 40 }).sent).toEqual({ n: '4', max_tokens: 12 });
  });

  test('there are no more choices than tokens', () => {
    const most = { sent: { n: 2, best_of: CAP, max_tokens: 1 }, maxTokens: 1 };
    expect(capped({ n: 2, best_of: 99 })).toEqual(most);
    const many = { sent: { n: CAP, max_tokens: 1 }, maxTokens: 1 };
    expect(capped({ n: 1_000_000, max_tokens: 1 })).toEqual(many);
    expect(capped({ n: '1e9', max_tokens: 1 })).toEqual(many);
  });

  test('everything else stays as it was', () => {
    const messages = [{ role: 'user', content: 'Grüße 👋' }];
    const asked = { messages, stream: true, stop: ['\n'], x: { y: null }, max_tokens: 51 };
    expect(capped(asked).sent).toEqual({ ...asked, max_tokens: CAP });
  });
});

describe('nothing is changed', () => {
  test('where there is no cap', () => {
    const body = bytesOf({ max_tokens: 4096 });
    expect(capTokens(body, 'chat', null)).toEqual({ body, maxTokens: null });
  });

  test.each(['speech', 'images', 'transcriptions', 'music'] as const)('for %s', (endpoint) => {
    // The fields of a form are no request of tokens, and its files are elsewhere.
    const body = bytesOf({ prompt: 'a cat' });
    expect(capTokens(body, endpoint, CAP)).toEqual({ body, maxTokens: null });
  });

  test('completions are capped as chats are', () => {
    const { body, maxTokens } = capTokens(bytesOf({ prompt: 'once' }), 'completions', CAP);
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ max_tokens: CAP });
    expect(maxTokens).toBe(CAP);
  });
});
