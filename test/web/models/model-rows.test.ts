/** A row a model, put together from what three questions are answered. */
import { expect, test } from 'vitest';
import { modelRows } from '../../../packages/coordinator/web/src/screens/models/model-rows.js';

const MODEL = {
  id: 'tiny',
  object: 'model',
  created: 0,
  owned_by: 'Anna',
  service_type: 'llm',
  input_modalities: ['text'],
  output_modalities: ['text'],
  supported_features: ['tools'],
  context_length: 4_096,
} as const;

const OFFER = {
  id: 'tiny',
  service_type: 'llm',
  service_id: 'llm-0',
  owner: 'Anna',
  provider: 'den-pc',
  provider_id: 'p1',
  online: true,
  slots: 4,
  busy: 1,
  tokens_per_second: null as number | null,
  own: true as boolean | null,
  share_id: null,
  max_tokens: null,
  hours: null,
} as const;

const QUEUE = {
  model: 'tiny',
  service_type: 'llm',
  queued: 0,
  running: 1,
  slots: 6,
  free_slots: 5,
  oldest_queued_seconds: null,
  providers_online: 2,
} as const;

test('an alias has the figures of the first of its models', () => {
  const alias = { ...MODEL, id: 'fast', alias_of: ['tiny', 'big'] };
  const [row] = modelRows([alias], [OFFER], [QUEUE]);
  expect(row).toMatchObject({ id: 'fast', aliasOf: ['tiny', 'big'], providers: 1, slots: 6 });
});

test('providers are counted once, the fastest tells the speed, and others are named', () => {
  const offers = [
    { ...OFFER, tokens_per_second: 20 },
    { ...OFFER, service_id: 'llm-1', tokens_per_second: 45 },
    { ...OFFER, provider_id: 'p2', owner: 'Ben', own: false },
    { ...OFFER, provider_id: 'p3', owner: 'Ben', own: false },
  ];
  expect(modelRows([MODEL], offers, [QUEUE])).toMatchObject([
    {
      id: 'tiny',
      context: 4_096,
      providers: 3,
      slots: 6,
      freeSlots: 5,
      tokensPerSecond: 45,
      isOwn: true,
      sharedBy: ['Ben'],
    },
  ]);
});

test('the same id of another type is another model, and what is not told yet is none', () => {
  const rows = modelRows([{ ...MODEL, service_type: 'stt' }, MODEL], [OFFER], [QUEUE]);
  expect(rows.map(({ type, providers, slots }) => [type, providers, slots])).toEqual([
    ['llm', 1, 6],
    ['stt', 0, 0],
  ]);
  expect(rows[1]).toMatchObject({ tokensPerSecond: null, isOwn: false, sharedBy: [] });
});
