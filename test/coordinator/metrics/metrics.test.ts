import { MAX_MODELS } from '@inference-gateway/coordinator/metrics/gen-ai-metrics';
import { Metrics } from '@inference-gateway/coordinator/metrics/metrics';
import type { GatewayState } from '@inference-gateway/coordinator/metrics/state-metrics';
import type { UsageRow } from '@inference-gateway/coordinator/store/port';
import { beforeEach, describe, expect, it } from 'vitest';
import { parsePrometheus, valueOf } from '../../support/prometheus-text.js';
import type { Exposition } from '../../support/prometheus-text.js';

const ROW: UsageRow = {
  requestId: 'req_secret',
  at: 0,
  memberId: 'mem_secret',
  keyId: 'key_secret',
  providerId: 'prv_secret',
  model: 'tiny',
  serviceType: 'llm',
  endpoint: 'chat',
  promptTokens: 20,
  completionTokens: 101,
  estimated: false,
  audioMs: 0,
  images: 0,
  queueMs: 300,
  firstByteMs: 500,
  totalMs: 2_500,
  attempts: 1,
  outcome: 'ok',
  errorCode: null,
  source: 'api',
};

const DURATION = 'gen_ai_server_request_duration_seconds';
const FIRST_TOKEN = 'gen_ai_server_time_to_first_token_seconds';
const PER_TOKEN = 'gen_ai_server_time_per_output_token_seconds';
const TOKENS = 'gen_ai_client_token_usage';
const LABELS = {
  gen_ai_operation_name: 'chat',
  gen_ai_provider_name: 'inference_gateway',
  gen_ai_request_model: 'tiny',
};

const STATE: GatewayState = {
  queues: [
    { serviceType: 'llm', model: 'tiny', queued: 3, processing: 1, oldestQueuedAt: 40_000 },
    { serviceType: 'llm', model: 'huge', queued: 2, processing: 0, oldestQueuedAt: 10_000 },
    { serviceType: 'image', model: 'paint', queued: 0, processing: 5, oldestQueuedAt: null },
  ],
  isQueuePaused: true,
  lastTickAt: 99_500,
  lastBackupAt: 60_000,
  databaseBytes: 4_096,
  walBytes: 512,
  assetBytes: 7,
  assetBytesLimit: 20,
  disk: { bytes: 1_000, freeBytes: 400 },
  now: 100_000,
};

let state: GatewayState | null;

const PARTS = {
  providers: () => [],
  callsInFlight: () => 7,
  state: () => Promise.resolve(state),
  version: '1.2.3',
  node: null,
};

let metrics: Metrics;

beforeEach(() => {
  state = STATE;
  metrics = new Metrics(PARTS);
});

interface Call extends Partial<UsageRow> {
  readonly stream?: boolean;
  readonly told?: boolean;
}

function observe({ stream = false, told = true, ...fields }: Call = {}): void {
  metrics.observe({ stream }, { ...ROW, estimated: !told, ...fields });
}

const scrape = async (): Promise<Exposition> => parsePrometheus(await metrics.text());

const modelsOf = ({ samples }: Exposition): Set<string> =>
  new Set(samples.flatMap(({ labels }) => labels['gen_ai_request_model'] ?? []));

describe('a call is counted', () => {
  it('by endpoint, outcome and error code', async () => {
    observe();
    observe();
    observe({ outcome: 'failed', errorCode: 'provider_error' });
    observe({ outcome: 'canceled', endpoint: 'completions' });
    const name = 'gateway_requests_total';
    const { samples } = await scrape();
    const counted = samples.filter((sample) => sample.name === name);
    expect(counted.map(({ labels, value }) => ({ ...labels, value }))).toEqual([
      { endpoint: 'chat', outcome: 'ok', code: '', value: 2 },
      { endpoint: 'chat', outcome: 'failed', code: 'provider_error', value: 1 },
      { endpoint: 'completions', outcome: 'canceled', code: '', value: 1 },
    ]);
  });

  it('with its tokens, audio and images', async () => {
    observe();
    observe({ promptTokens: 1, completionTokens: 2 });
    observe({ endpoint: 'speech', audioMs: 1_500 });
    observe({ endpoint: 'images', images: 3 });
    const found = await scrape();
    expect(valueOf(found, 'gateway_tokens_total', { type: 'input' })).toBe(61);
    expect(valueOf(found, 'gateway_tokens_total', { type: 'output' })).toBe(305);
    expect(valueOf(found, 'gateway_audio_seconds_total', { endpoint: 'speech' })).toBe(1.5);
    expect(valueOf(found, 'gateway_audio_seconds_total', { endpoint: 'images' })).toBeNull();
    expect(valueOf(found, 'gateway_images_total')).toBe(3);
  });

  it('with its attempts, of which the first is no replacement', async () => {
    observe({ attempts: 3 });
    observe({ attempts: 1 });
    observe({ attempts: 0, outcome: 'failed', errorCode: 'model_not_found' });
    const found = await scrape();
    expect(valueOf(found, 'gateway_attempts_total', { endpoint: 'chat' })).toBe(4);
    expect(valueOf(found, 'gateway_replacements_total', { endpoint: 'chat' })).toBe(2);
  });

  it('with its wait for a slot, in seconds; jobs are counted apart', async () => {
    observe();
    metrics.observe({ stream: false }, { ...ROW, queueMs: 90_000 }, 'job');
    const found = await scrape();
    const wait = { service_type: 'llm', kind: 'call' };
    expect(valueOf(found, 'gateway_queue_wait_seconds_sum', wait)).toBe(0.3);
    expect(valueOf(found, 'gateway_queue_wait_seconds_bucket', { ...wait, le: '0.1' })).toBe(0);
    expect(valueOf(found, 'gateway_queue_wait_seconds_bucket', { ...wait, le: '0.5' })).toBe(1);
    expect(valueOf(found, 'gateway_queue_wait_seconds_sum', { ...wait, kind: 'job' })).toBe(90);
  });
});

describe("OpenTelemetry's metrics", () => {
  it('have the duration in seconds, with the labels of the conventions', async () => {
    observe();
    const { samples } = await scrape();
    const sums = samples.filter(({ name }) => name === `${DURATION}_sum`);
    expect(sums).toEqual([{ name: `${DURATION}_sum`, labels: LABELS, value: 2.5 }]);
  });

  it.each<[string, Partial<UsageRow>, string]>([
    ['code', { outcome: 'failed', errorCode: 'provider_timeout' }, 'provider_timeout'],
    ['leaving', { outcome: 'canceled', errorCode: null }, 'canceled'],
    ['end without a reason', { outcome: 'failed', errorCode: null }, '_OTHER'],
  ])('name the %s of a call that did not succeed', async (_, fields, type) => {
    observe(fields);
    const labels = { ...LABELS, error_type: type };
    expect(valueOf(await scrape(), `${DURATION}_count`, labels)).toBe(1);
  });

  it('have the pace of streams that succeeded, and of nothing else', async () => {
    observe();
    observe({ stream: true, outcome: 'failed', errorCode: 'provider_error' });
    observe({ stream: true, firstByteMs: null });
    const before = await scrape();
    expect(valueOf(before, `${FIRST_TOKEN}_count`)).toBeNull();
    expect(valueOf(before, `${PER_TOKEN}_count`)).toBeNull();
    observe({ stream: true });
    const after = await scrape();
    expect(valueOf(after, `${FIRST_TOKEN}_sum`, LABELS)).toBe(0.5);
    expect(valueOf(after, `${PER_TOKEN}_sum`, LABELS)).toBeCloseTo(0.02);
  });

  it('have no pace a token where the first was the last, or nobody counted', async () => {
    observe({ stream: true, completionTokens: 1 });
    observe({ stream: true, told: false });
    const found = await scrape();
    expect(valueOf(found, `${FIRST_TOKEN}_count`)).toBe(2);
    expect(valueOf(found, `${PER_TOKEN}_count`)).toBeNull();
  });

  it('have the tokens of calls whose server told them: unknown is not none', async () => {
    observe({ told: false, promptTokens: 0, completionTokens: 0 });
    expect(valueOf(await scrape(), `${TOKENS}_count`)).toBeNull();
    observe();
    const found = await scrape();
    expect(valueOf(found, `${TOKENS}_sum`, { ...LABELS, gen_ai_token_type: 'input' })).toBe(20);
    expect(valueOf(found, `${TOKENS}_sum`, { ...LABELS, gen_ai_token_type: 'output' })).toBe(101);
  });
});

describe('the models of members', () => {
  it('have series of their own up to a limit, and further ones are other', async () => {
    for (let i = 0; i < MAX_MODELS + 20; i++) observe({ model: `model-${i}` });
    const found = await scrape();
    expect(modelsOf(found).size).toBe(MAX_MODELS + 1);
    expect(valueOf(found, `${DURATION}_count`, { gen_ai_request_model: 'other' })).toBe(20);
    expect(valueOf(found, `${DURATION}_count`)).toBe(MAX_MODELS + 20);
  });

  it('that nobody serves are other: a caller can make up any number', async () => {
    const fields = { providerId: null, outcome: 'failed', errorCode: 'model_not_found' } as const;
    for (let i = 0; i < MAX_MODELS * 2; i++) observe({ model: `made-up-${i}`, ...fields });
    observe({ model: 'real' });
    expect(modelsOf(await scrape())).toEqual(new Set(['other', 'real']));
  });

  it('may hold any character', async () => {
    const model = 'a"b\\c\nd{e="f"} 1';
    observe({ model });
    const name = model.replace('\n', '\\n');
    expect(modelsOf(await scrape())).toEqual(new Set([name]));
  });
});

it('tells the version, the calls under way, what was refused and what was answered', async () => {
  metrics.rateLimited();
  metrics.answered(200);
  metrics.answered(200);
  metrics.answered(null);
  const found = await scrape();
  expect(valueOf(found, 'gateway_build_info', { version: '1.2.3' })).toBe(1);
  expect(valueOf(found, 'gateway_calls_in_flight')).toBe(7);
  expect(valueOf(found, 'gateway_rate_limited_total')).toBe(1);
  expect(valueOf(found, 'gateway_http_requests_total', { status: '200' })).toBe(2);
  expect(valueOf(found, 'gateway_http_requests_total', { status: 'none' })).toBe(1);
});

it('tells of the process, and two coordinators in one process do not mix their calls', async () => {
  const other = new Metrics(PARTS);
  observe();
  const found = parsePrometheus(await other.text());
  expect(valueOf(found, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(valueOf(found, 'gateway_requests_total')).toBeNull();
  expect(valueOf(await scrape(), 'gateway_requests_total')).toBe(1);
});

async function nodesIn(source: Metrics): Promise<Set<string | undefined>> {
  const { samples } = parsePrometheus(await source.text());
  const names = samples.map(({ name }) => name);
  expect(names).toContain('process_cpu_seconds_total');
  expect(names).toContain('gateway_jobs');
  expect(names).toContain('gateway_build_info');
  return new Set(samples.map(({ labels }) => labels['node']));
}

describe('one of several coordinators', () => {
  const node = {
    name: 'north',
    linked: () => new Map(links),
    relayed: () => ({ in: 4, out: 9 }),
  };
  let links: readonly (readonly [string, boolean])[];

  beforeEach(() => {
    links = [
      ['south', true],
      ['west', false],
    ];
    metrics = new Metrics({ ...PARTS, node });
  });

  it('tells its links to the others that run, and the calls between them', async () => {
    const found = await scrape();
    expect(valueOf(found, 'gateway_node_links', { node: 'north', peer: 'south' })).toBe(1);
    expect(valueOf(found, 'gateway_node_links', { node: 'north', peer: 'west' })).toBe(0);
    expect(valueOf(found, 'gateway_relayed_calls_total', { direction: 'in' })).toBe(4);
    expect(valueOf(found, 'gateway_relayed_calls_total', { direction: 'out' })).toBe(9);
    links = [['south', false]];
    const later = await scrape();
    expect(valueOf(later, 'gateway_node_links', { peer: 'south' })).toBe(0);
    expect(valueOf(later, 'gateway_node_links', { peer: 'west' })).toBeNull();
    expect(valueOf(later, 'gateway_relayed_calls_total', { direction: 'out' })).toBe(9);
  });

  it('has its name in each metric, the process included, and shares no label', async () => {
    const other = new Metrics({ ...PARTS, node: { ...node, name: 'south' } });
    const alone = new Metrics(PARTS);
    observe();
    other.observe({ stream: false }, ROW);
    expect(await nodesIn(metrics)).toEqual(new Set(['north']));
    expect(await nodesIn(other)).toEqual(new Set(['south']));
    expect(await nodesIn(alone)).toEqual(new Set([undefined]));
    expect(await alone.text()).not.toMatch(/gateway_(node|relayed)/);
  });
});

describe('the state of the gateway', () => {
  it('has the jobs of each type, the age of the oldest, and the dispatcher', async () => {
    const found = await scrape();
    const jobs = (type: string, kind: string): number | null =>
      valueOf(found, 'gateway_jobs', { service_type: type, state: kind });
    expect([jobs('llm', 'queued'), jobs('llm', 'processing')]).toEqual([5, 1]);
    expect([jobs('image', 'queued'), jobs('image', 'processing')]).toEqual([0, 5]);
    expect(jobs('video', 'queued')).toBe(0);
    expect(valueOf(found, 'gateway_oldest_queued_job_age_seconds')).toBe(90);
    expect(valueOf(found, 'gateway_queue_paused')).toBe(1);
    expect(valueOf(found, 'gateway_dispatcher_last_tick_timestamp_seconds')).toBe(99.5);
  });

  it('has the space of database, files and disk, and the last backup', async () => {
    const found = await scrape();
    expect(valueOf(found, 'gateway_database_bytes', { file: 'database' })).toBe(4_096);
    expect(valueOf(found, 'gateway_database_bytes', { file: 'wal' })).toBe(512);
    expect(valueOf(found, 'gateway_assets_bytes')).toBe(7);
    expect(valueOf(found, 'gateway_assets_limit_bytes')).toBe(20);
    expect(valueOf(found, 'gateway_disk_bytes')).toBe(1_000);
    expect(valueOf(found, 'gateway_disk_free_bytes')).toBe(400);
    expect(valueOf(found, 'gateway_last_backup_timestamp_seconds')).toBe(60);
  });

  it('is 0 where there is no job, no tick and no backup', async () => {
    state = { ...STATE, queues: [], isQueuePaused: false, lastTickAt: null, lastBackupAt: null };
    const found = await scrape();
    for (const name of [
      'gateway_jobs',
      'gateway_oldest_queued_job_age_seconds',
      'gateway_queue_paused',
      'gateway_dispatcher_last_tick_timestamp_seconds',
      'gateway_last_backup_timestamp_seconds',
    ]) {
      expect(valueOf(found, name)).toBe(0);
    }
  });

  it('is left out where it cannot be read, and the rest stays', async () => {
    state = null;
    const found = await scrape();
    expect(valueOf(found, 'gateway_jobs')).toBeNull();
    expect(valueOf(found, 'gateway_disk_free_bytes')).toBeNull();
    expect(valueOf(found, 'gateway_calls_in_flight')).toBe(7);
  });
});

it('says nothing of members, keys, providers and requests', async () => {
  observe();
  observe({ stream: true });
  expect(await metrics.text()).not.toContain('secret');
});
