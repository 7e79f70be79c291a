import { FormerModels } from '@inference-gateway/coordinator/links/model-index';
import { ProviderRecord } from '@inference-gateway/coordinator/links/provider-record';
import type { AdvertisedService } from '@inference-gateway/shared/protocol/messages';
import { beforeEach, expect, it } from 'vitest';
import { HOST, NOW, SERVICE } from '../../store/store-rows.js';

let former: FormerModels;
let record: ProviderRecord;

beforeEach(() => {
  former = new FormerModels();
  record = new ProviderRecord(
    {
      id: 'den',
      ownerId: 'anna',
      ownerName: 'Anna',
      isOwnerDisabled: false,
      name: 'den-pc',
      createdAt: NOW,
      approvedAt: NOW,
      lastSeenAt: null,
      draining: false,
      paused: false,
      services: [],
      host: HOST,
    },
    30_000,
  );
});

/** The provider serves these models, and no others any more. */
function serve(...ids: string[]): void {
  const models = SERVICE.models.flatMap((model) => ids.map((id) => ({ ...model, id })));
  const after: AdvertisedService[] = ids.length === 0 ? [] : [{ ...SERVICE, models }];
  former.change(record, { before: record.services, after });
  record.services = after;
}

it('a model that is left out of the list was last seen at that moment', () => {
  serve('one', 'two');
  expect(former.candidates('llm', 'one')).toEqual([]);
  const before = Date.now();
  serve('two');
  const [candidate] = former.candidates('llm', 'one');
  expect(candidate).toMatchObject({ providerId: 'den', ownerId: 'anna', online: false });
  expect(candidate?.lastSeenAt).toBeGreaterThanOrEqual(before);
  expect(former.candidates('tts', 'one')).toEqual([]);
  expect(former.candidates('llm', 'two')).toEqual([]);
});

it('a model that is back is no former one', () => {
  serve('one');
  serve();
  expect(former.candidates('llm', 'one')).toHaveLength(1);
  serve('one');
  expect(former.candidates('llm', 'one')).toEqual([]);
});

it('of one provider it remembers 512, the last ones', () => {
  for (let i = 0; i <= 513; i++) serve(`model-${i}`);
  expect(former.candidates('llm', 'model-0')).toEqual([]);
  expect(former.candidates('llm', 'model-1')).toHaveLength(1);
  expect(former.candidates('llm', 'model-512')).toHaveLength(1);
});
