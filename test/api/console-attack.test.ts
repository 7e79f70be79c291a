/** Requests of an attacker, and answers that browsers must not store. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { ask, readMy, refusal } from './console-calls.js';
import { ASSETS } from './media-calls.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

let gateway: TestGateway;
let anna: Visitor;

beforeAll(async () => {
  gateway = await openGateway();
  anna = await visit(gateway, 'anna@example.org');
});

afterAll(() => gateway.stop());

it('a key that lasts beyond all dates, which no list could show, is refused', async () => {
  const wanted = { name: 'for ever', scope: 'any', expires_in_s: Number.MAX_SAFE_INTEGER };
  const refused = await refusal(anna, 'key.create', wanted);
  expect(refused).toMatchObject({ status: 400, param: 'expires_in_s' });
  expect(refused.message).toContain('3650 days');
  const keys = await gateway.admin('key.list', { user: null });
  for (const { expires_at: at } of keys)
    expect(() => new Date(at ?? 0).toISOString()).not.toThrow();
});

it('a time before all dates is the beginning, and no failure', async () => {
  const since = { since_s: Number.MAX_SAFE_INTEGER, by: 'day', given: false } as const;
  const ever = { ...since, since_s: null };
  expect(await readMy(anna, 'stats.show', since)).toEqual(await readMy(anna, 'stats.show', ever));
});

it('no list that came by a cookie is kept for the next member who logs in', async () => {
  for (const path of [ASSETS, '/api/inference/queue/summary', '/v1/jobs', '/v1/models']) {
    const response = await anna.fetch(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control'), path).toBe('private, no-cache');
    expect(response.headers.get('vary'), path).toContain('Cookie');
  }
  const refused = await ask(anna, ['admin', 'user.list']);
  expect(refused.headers.get('cache-control')).toBe('private, no-cache');
});
