import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { beforeAll, describe, expect, it } from 'vitest';
import { startCountingServer } from '../support/counting-server.js';
import type { CountingServer, Made } from '../support/counting-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { query, usageRows } from '../support/usage-rows.js';
import type { MeteredRow } from '../support/usage-rows.js';
import { HEARD_SECONDS, OUTCOMES, REFUSED, REQUESTS, runMixed } from './mixed-run.js';
import type { RunKey } from './mixed-run.js';
import { administer } from './requests.js';

const SUMS = ['promptTokens', 'completionTokens', 'audioMs', 'images'] as const;

let gateway: TestGateway;
let keys: RunKey[];
let servers: CountingServer[];
let rows: MeteredRow[];
/** Number of answers that callers saw, by key and outcome. */
let seen: ReadonlyMap<string, number>;

beforeAll(async () => {
  // Many calls fail on purpose, and each must be metered, so no circuit breaker may stay open.
  gateway = await openGateway({ breakerOpenMs: 0 });
  servers = await Promise.all(Array.from({ length: 4 }, () => startCountingServer()));
  const { anna, ben } = gateway;
  for (const [i, owner] of [anna, anna, ben, ben].entries()) {
    const server = servers[i] as CountingServer;
    await gateway.startAgent({ owner, name: `pc-${i}`, services: servicesOf(server) });
  }
  keys = [];
  for (const [name, { id: memberId, key, keyId }] of [
    ['anna', anna],
    ['ben', ben],
  ] as const) {
    const asked = { user: `${name}@example.org`, name: 'second', scope: 'any', expires_in_s: null };
    const second = await administer(gateway, 'key.create', asked);
    keys.push({ id: keyId, secret: key, memberId });
    keys.push({ id: String(second['id']), secret: String(second['key']), memberId });
  }
  seen = await runMixed({ gateway, keys, servers });
  const metered = [...seen.values()].reduce((sum, count) => sum + count, 0);
  rows = await until(() => atLeast(metered), { what: `${metered} rows`, timeoutMs: 30_000 });
  return async () => {
    await gateway.stop();
    await Promise.all(servers.map(({ fake }) => fake.close()));
  };
}, 180_000);

function atLeast(count: number): MeteredRow[] | null {
  const found = usageRows(gateway);
  return found.length >= count ? found : null;
}

function servicesOf({ fake }: CountingServer): Partial<ServiceConfig>[] {
  const types = { llm: 'tiny', tts: 'kokoro', stt: 'whisper', image: 'sd' } as const;
  return Object.entries(types).map(([type, id]) => ({
    id: `${type}-0`,
    type: type as ServiceConfig['type'],
    baseUrl: fake.baseUrl,
    slots: 20,
    models: [
      {
        id,
        servedName: id,
        contextLength: null,
        inputModalities: null,
        supportedFeatures: null,
      },
    ],
  }));
}

function sumOf<Row>(list: readonly Row[], value: (row: Row) => number): number {
  return list.reduce((sum, row) => sum + value(row), 0);
}

function sumsOf(list: readonly Made[]): Made {
  const sum = (name: (typeof SUMS)[number]) => sumOf(list, (one) => one[name]);
  return {
    promptTokens: sum('promptTokens'),
    completionTokens: sum('completionTokens'),
    images: sum('images'),
    audioMs: sum('audioMs'),
  };
}

describe('usage adds up: after a mixed run of 500 requests', () => {
  it('there is a row for each that somebody worked on or could have, and no other', () => {
    const counted = rows.length;
    expect(counted).toBe(REQUESTS - REFUSED);
    expect(new Set(rows.map(({ requestId }) => requestId)).size).toBe(counted);
  });

  it('the rows of each key are what its caller saw', () => {
    for (const { id, memberId } of keys) {
      for (const outcome of OUTCOMES) {
        const own = rows.filter((row) => row.keyId === id && row.outcome === outcome);
        expect(own).toHaveLength(seen.get(`${id} ${outcome}`) ?? 0);
        expect(own.length).toBeGreaterThan(0);
        expect(own.every((row) => row.memberId === memberId)).toBe(true);
      }
    }
  });

  it('tokens, images and spoken audio are what the local servers made', () => {
    const made = sumsOf(servers.map((server) => server.made));
    const heard = rows.filter(({ endpoint }) => endpoint === 'transcriptions');
    const other = rows.filter(({ endpoint }) => endpoint !== 'transcriptions');
    expect(sumsOf(other)).toEqual(made);
    expect(heard.map(({ audioMs }) => audioMs)).toEqual(heard.map(() => HEARD_SECONDS * 1_000));
    expect(heard.length).toBeGreaterThan(20);
  });

  it('the same for each provider', async () => {
    const providers = await administer(gateway, 'provider.list', {});
    const named = new Map(
      (providers as unknown as { id: string; name: string }[]).map(({ id, name }) => [name, id]),
    );
    for (const [i, { made }] of servers.entries()) {
      const id = named.get(`pc-${i}`);
      const own = rows.filter(
        ({ providerId, endpoint, outcome }) =>
          providerId === id && outcome === 'ok' && endpoint !== 'transcriptions',
      );
      expect(sumsOf(own)).toEqual(made);
      expect(made.images).toBeGreaterThan(0);
    }
  });

  it('the attempts are the requests that the local servers got', () => {
    const asked = sumOf(servers, ({ fake }) => fake.requests.length);
    expect(sumOf(rows, ({ attempts }) => attempts)).toBe(asked);
  });

  it('failed and canceled requests cost nothing', () => {
    const bad = rows.filter(({ outcome }) => outcome !== 'ok');
    expect(sumsOf(bad)).toEqual({ promptTokens: 0, completionTokens: 0, images: 0, audioMs: 0 });
    const codes = new Set(bad.map(({ errorCode }) => errorCode));
    expect(codes).toEqual(new Set([null, 'provider_error', 'model_not_found']));
  });

  it('the daily sums are the sums of the rows, group by group', () => {
    const columns = 'member_id, key_id, model, endpoint, source, outcome';
    const sums = SUMS.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    const summed = sums.map((name) => `sum(${name}) as ${name}`).join(', ');
    const daily = query(
      gateway,
      `select day, ${columns}, provider_id, requests, ${sums.join(', ')}, total_ms
       from usage_daily order by day, ${columns}, provider_id`,
    );
    const added = query(
      gateway,
      `select strftime('%Y-%m-%d', at / 1000, 'unixepoch') as day, ${columns},
         coalesce(provider_id, '') as provider_id, count(*) as requests, ${summed},
         sum(total_ms) as total_ms
       from usage group by day, ${columns}, provider_id order by day, ${columns}, provider_id`,
    );
    expect(daily).toEqual(added);
    expect(daily.length).toBeGreaterThan(50);
  });

  it.each(['day', 'member', 'key', 'provider', 'model', 'endpoint', 'source'])(
    'stats by %s add up to the same',
    async (by) => {
      const asked = { since_s: null, by, user: null };
      const stats = await administer(gateway, 'stats.show', asked);
      const list = stats as unknown as Record<string, number>[];
      const sum = (name: string): number => sumOf(list, (row) => row[name] ?? NaN);
      for (const outcome of OUTCOMES) {
        expect(sum(outcome)).toBe(rows.filter((row) => row.outcome === outcome).length);
      }
      expect(sum('requests')).toBe(rows.length);
      const made = {
        promptTokens: sum('prompt_tokens'),
        completionTokens: sum('completion_tokens'),
        images: sum('images'),
        audioMs: sum('audio_ms'),
      };
      expect(made).toEqual(sumsOf(rows));
    },
  );
});
