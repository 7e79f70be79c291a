import { SYSTEM } from '@inference-gateway/coordinator/store/operations/audit/audit-trail';
import {
  enqueueKeys,
  laneHeadKey,
  laneKey,
  parseLane,
  parseLaneHeadKey,
} from '@inference-gateway/coordinator/store/operations/jobs/job-rows';
import { carryOutOn } from '@inference-gateway/coordinator/store/sqlite/carry-out';
import { openDatabase } from '@inference-gateway/coordinator/store/sqlite/database';
import { migrate } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

const LANE = {
  memberId: 'anna',
  keyId: 'laptop',
  scope: 'any',
  needs: { features: ['tools', 'reasoning'], voices: ['b', 'a'], format: 'wav' },
  excluded: ['p2', 'p1'],
  avoided: ['p4', 'p3'],
} as const;
const QUEUE = { serviceType: 'llm', model: 'llama', memberId: 'anna' } as const;

test('the same lane has the same key, in whatever order its sets were given', () => {
  const { needs } = LANE;
  const reversed = {
    ...LANE,
    needs: {
      features: needs.features.toReversed(),
      voices: needs.voices.toReversed(),
      format: needs.format,
    },
    excluded: LANE.excluded.toReversed(),
    avoided: LANE.avoided.toReversed(),
  };
  expect(laneKey(reversed)).toBe(laneKey(LANE));
  expect(LANE.excluded).toEqual(['p2', 'p1']);
});

test.each([
  ['member', { memberId: 'ben' }],
  ['key', { keyId: 'phone' }],
  ['scope', { scope: 'own' }],
  ['features', { needs: { ...LANE.needs, features: [] } }],
  ['voices', { needs: { ...LANE.needs, voices: ['a,b'] } }],
  ['format', { needs: { ...LANE.needs, format: null } }],
  ['excluded', { excluded: [] }],
  ['avoided', { avoided: ['p4', 'p3', 'p2'] }],
  ['alias', { alias: 'fast' }],
  ['excluded and avoided, swapped', { excluded: LANE.avoided, avoided: LANE.excluded }],
] as const)('lanes that differ by their %s have different keys', (_, change) => {
  expect(laneKey({ ...LANE, ...change })).not.toBe(laneKey(LANE));
});

test('a lane is read from its columns as it was written, its sets in order', () => {
  const row = { service_type: 'llm', model: 'll"a,ma]', lane: laneKey(LANE) } as const;
  const { keyId: _keyId, ...read } = LANE;
  expect(parseLane(row)).toEqual({
    ...read,
    serviceType: 'llm',
    model: 'll"a,ma]',
    needs: { features: ['reasoning', 'tools'], voices: ['a', 'b'], format: 'wav' },
    excluded: ['p1', 'p2'],
    avoided: ['p3', 'p4'],
  });
});

test('the alias of a lane is read as it was written; without one the key is as before', () => {
  const row = {
    service_type: 'llm',
    model: 'm',
    lane: laneKey({ ...LANE, alias: 'claude-*' }),
  } as const;
  expect(parseLane(row).alias).toBe('claude-*');
  expect(laneKey(LANE)).not.toContain('null]');
  expect(parseLane({ ...row, lane: laneKey(LANE) })).not.toHaveProperty('alias');
});

test('the key of a head tells lanes of two models and two types apart', () => {
  const lane = laneKey(LANE);
  const row = { service_type: 'llm', model: 'llama', lane } as const;
  expect(parseLaneHeadKey(laneHeadKey(row))).toEqual(row);
  const keys = [row, { ...row, model: 'other' }, { ...row, service_type: 'stt' as const }];
  expect(new Set(keys.map(laneHeadKey)).size).toBe(3);
});

test('a place is one step after the own last one, or after what is served now', async () => {
  const { place, serve } = await queue();
  const anna = (): number => place(QUEUE);
  const ben = (): number => place({ ...QUEUE, memberId: 'ben' });
  expect([anna(), anna(), anna(), ben()]).toEqual([1, 2, 3, 1]);
  serve(2);
  expect([anna(), ben(), ben()]).toEqual([4, 3, 4]);
  serve(10.5);
  expect([anna(), ben(), anna()]).toEqual([11.5, 11.5, 12.5]);
});

test('every model and service type has a line of its own', async () => {
  const { place, serve } = await queue();
  serve(7);
  expect(place(QUEUE)).toBe(8);
  expect(place({ ...QUEUE, model: 'other' })).toBe(1);
  expect(place({ ...QUEUE, serviceType: 'stt' })).toBe(1);
});

async function queue() {
  const database = openDatabase(join(await temporaryFolder(), 'gateway.db'));
  onTestFinished(() => void database.close());
  migrate(database);
  const clock = database.prepare("insert or replace into fair_clocks values ('llm', 'llama', ?)");
  const carryOut = carryOutOn(database);
  const context = { actor: SYSTEM, at: 0, nodeId: 'node' };
  return {
    place: (of: Parameters<typeof enqueueKeys>[0]) => carryOut(enqueueKeys(of), context),
    serve: (key: number) => void clock.run(key),
  };
}
