import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../packages/coordinator/web/src/screens/playground/run-facts.js';
import { readRate } from '../../../packages/coordinator/web/src/screens/playground/rate.js';

const HEADERS = new Headers({
  'x-provider': encodeURIComponent('Büro PC'),
  'x-queue-ms': '12',
  'x-request-id': 'req_1',
});

describe('what is told of an answer', () => {
  it('is who gave it, how long it waited, and how fast it came', () => {
    const marks = { sentAt: 1_000, firstAt: 1_200, lastAt: 2_200 };
    const tokens = { prompt: 5, completion: 101 };
    expect(factsOf(HEADERS, { marks, endedAt: 2_300, tokens })).toEqual({
      provider: 'Büro PC',
      queueMs: 12,
      requestId: 'req_1',
      firstMs: 200,
      totalMs: 1_300,
      tokens,
      tokensPerSecond: 100,
    });
  });

  it('counts the whole time where all tokens came at once', () => {
    const marks = { sentAt: 0, firstAt: 500, lastAt: 500 };
    const tokens = { prompt: 1, completion: 20 };
    expect(factsOf(HEADERS, { marks, endedAt: 500, tokens }).tokensPerSecond).toBe(40);
  });

  it('leaves out what nobody knows', () => {
    const marks = { sentAt: 0, firstAt: null, lastAt: null };
    const facts = factsOf(new Headers(), { marks, endedAt: 10, tokens: null });
    expect(facts).toMatchObject({ provider: null, queueMs: null, requestId: null, firstMs: null });
    expect(facts).toMatchObject({ tokens: null, tokensPerSecond: null, totalMs: 10 });
  });
});

describe('the rate limit', () => {
  it('is read from the headers of an answer', () => {
    const headers = new Headers({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '7',
    });
    expect(readRate(headers, 1_000)).toEqual({ limit: 60, remaining: 0, resetAt: 8_000 });
  });

  it('is unknown where an answer does not tell it, or tells no number', () => {
    expect(readRate(new Headers({ 'X-RateLimit-Limit': '60' }), 0)).toBe(null);
    const odd = {
      'X-RateLimit-Limit': 'x',
      'X-RateLimit-Remaining': '1',
      'X-RateLimit-Reset': '1',
    };
    expect(readRate(new Headers(odd), 0)).toBe(null);
  });
});
