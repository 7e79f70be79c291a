import { capTokens } from '@inference-gateway/coordinator/core/usage/token-cap';
import {
  CANDIDATE_COUNTS,
  OPTION_OBJECTS,
  SEQUENCE_COUNTS,
  TOKEN_EVADERS,
  TOKEN_FLOORS,
  TOKEN_LIMITS,
} from '@inference-gateway/shared/openai/tokens';
import { describe, expect, test } from 'vitest';

const CAP = 50;

function bytesOf(request: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ model: 'm', ...request }));
}

/** The request that the provider gets, without the model. */
function capped(request: object) {
  const endpoint = 'prompt' in request ? 'completions' : 'chat';
  const { body, maxTokens } = capTokens(bytesOf(request), endpoint, CAP);
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
    expect(capTokens(body, 'chat', CAP)).toEqual({ body, asked: null, maxTokens: null });
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
    const many = { sent: { n: CAP, max_tokens: 1 }, maxTokens: 1 };
    expect(capped({ n: 1_000_000, max_tokens: 1 })).toEqual(many);
    expect(capped({ n: '1e9', max_tokens: 1 })).toEqual(many);
  });

  test.each(TOKEN_LIMITS)('%s is lowered, on top and in every object of options', (name) => {
    for (const much of [CAP + 1, -1, 0, '4096', 1e9]) {
      expect(capped({ [name]: much }).sent).toEqual({ [name]: CAP, max_tokens: CAP });
      for (const options of OPTION_OBJECTS) {
        const sent = { [options]: { [name]: CAP, top_k: 1 }, max_tokens: 5 };
        expect(capped({ [options]: { [name]: much, top_k: 1 }, max_tokens: 5 }).sent).toEqual(sent);
      }
    }
  });

  test.each(TOKEN_FLOORS)('%s is no more than the cap', (name) => {
    expect(capped({ [name]: 4096 }).sent).toEqual({ [name]: CAP, max_tokens: CAP });
    expect(capped({ [name]: 0 }).sent).toEqual({ [name]: 0, max_tokens: CAP });
  });

  test.each([...TOKEN_EVADERS, ...CANDIDATE_COUNTS])('%s is taken out', (name) => {
    expect(capped({ [name]: true, max_tokens: 5 }).sent).toEqual({ max_tokens: 5 });
    expect(capped({ [name]: 99 }).sent).toEqual({ max_tokens: CAP });
    const sent = { options: {}, max_tokens: CAP };
    expect(capped({ options: { [name]: 99 } }).sent).toEqual(sent);
  });

  test.each(SEQUENCE_COUNTS)('%s shares the cap, and has no place in options', (name) => {
    expect(capped({ [name]: 5 }).sent).toEqual({ [name]: 5, max_tokens: 10 });
    const sent = { extra_body: {}, max_tokens: CAP };
    expect(capped({ extra_body: { [name]: 5 } }).sent).toEqual(sent);
  });

  test('objects of options are lowered inside of each other, as a proxy unpacks them', () => {
    const asked = { extra_body: { options: { num_predict: 9_999, n: 4 } }, max_tokens: 5 };
    const sent = { extra_body: { options: { num_predict: CAP } }, max_tokens: 5 };
    expect(capped(asked).sent).toEqual(sent);
  });

  test('every prompt and every answer to it share the cap', () => {
    const texts = ['a', 'b', 'c', 'd', 'e'];
    expect(capped({ prompt: texts }).sent).toEqual({ prompt: texts, max_tokens: 10 });
    expect(capped({ prompt: texts, n: 2 }).sent).toEqual({ prompt: texts, n: 2, max_tokens: 5 });
    const tokens = [[1, 2], [3]];
    expect(capped({ prompt: tokens }).sent).toEqual({ prompt: tokens, max_tokens: 25 });
    expect(capped({ prompt: [1, 2, 3] }).sent).toEqual({ prompt: [1, 2, 3], max_tokens: CAP });
    const many = Array.from({ length: 60 }, String);
    expect(capped({ prompt: many, n: 3 }).sent).toEqual({ prompt: many, n: 1, max_tokens: 1 });
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
    expect(capTokens(body, 'chat', null)).toEqual({ body, asked: null, maxTokens: null });
  });

  test.each(['speech', 'images', 'transcriptions', 'music'] as const)('for %s', (endpoint) => {
    // A form's fields do not ask for tokens, and its files are sent separately.
    const body = bytesOf({ prompt: 'a cat' });
    expect(capTokens(body, endpoint, CAP)).toEqual({ body, asked: null, maxTokens: null });
  });

  test('completions are capped as chats are', () => {
    const { body, maxTokens } = capTokens(bytesOf({ prompt: 'once' }), 'completions', CAP);
    expect(JSON.parse(new TextDecoder().decode(body))).toMatchObject({ max_tokens: CAP });
    expect(maxTokens).toBe(CAP);
  });
});
