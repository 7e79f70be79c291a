import { expect, test } from 'vitest';
import { LedgerStage, NOON, opened } from './ledger-stage.js';

const JOB = { kind: 'job', job_id: 'job-1', claim_id: 'claim-1' } as const;
const CLAIM = {
  jobId: 'job-1',
  claimId: 'claim-1',
  model: 'tiny',
  endpoint: 'chat',
  caller: 'Ben',
  own: false,
  since: NOON,
} as const;

test('a run is told from its beginning to its end', () => {
  const stage = new LedgerStage();
  const { ledger } = stage;
  const record = ledger.begin(opened());
  const facts = { id: 'req_1', kind: 'sync', jobId: null, claimId: null, since: NOON };
  const what = { endpoint: 'chat', serviceId: 'llm-1', model: 'tiny', caller: 'Ben', own: false };
  const unknown = {
    promptTokens: null,
    completionTokens: null,
    estimated: false,
    energyWh: null,
  };
  stage.pass(2);
  expect(ledger.now([])).toEqual([
    { ...facts, ...what, ...unknown, phase: 'running', seconds: 2, bytes: 0 },
  ]);
  record.loading();
  expect(ledger.now([])).toMatchObject([{ phase: 'loading' }]);
  record.answering(200);
  record.passed(30);
  record.passed(12);
  expect(ledger.now([])).toMatchObject([{ phase: 'running', bytes: 42 }]);
  record.succeeded(null);
  expect(ledger.now([])).toEqual([]);
});

test('a synchronous call has no claim, whatever the coordinator writes beside it', () => {
  const { ledger } = new LedgerStage();
  ledger.begin(opened({ ...JOB, kind: 'sync' }));
  expect(ledger.now([])).toMatchObject([{ id: 'req_1', jobId: null, claimId: null }]);
});

test('an answer that waits to be confirmed keeps what its run came to', () => {
  const stage = new LedgerStage();
  stage.serve(JOB);
  stage.pass(60);
  expect(stage.ledger.now([])).toEqual([]);
  const [use] = stage.ledger.now([{ ...CLAIM, phase: 'spooled', bytes: 100 }]);
  expect(use).toMatchObject({ id: 'job-1', kind: 'job', claimId: 'claim-1', phase: 'spooled' });
  expect(use).toMatchObject({ seconds: 10, promptTokens: 7, completionTokens: 5, bytes: 100 });
});

test('of an answer of an earlier process only its facts are known', () => {
  const { ledger } = new LedgerStage();
  const unknown = { serviceId: null, promptTokens: null, completionTokens: null, seconds: null };
  const none = { estimated: false, energyWh: null };
  expect(ledger.now([{ ...CLAIM, phase: 'spooled', bytes: 3 }])).toEqual([
    { ...CLAIM, ...unknown, ...none, id: 'job-1', kind: 'job', phase: 'spooled', bytes: 3 },
  ]);
});

test('a job under way is told once, though its claim is held', () => {
  const { ledger } = new LedgerStage();
  ledger.begin(opened(JOB));
  expect(ledger.now([{ ...CLAIM, phase: 'running', bytes: 0 }])).toHaveLength(1);
});

test('ended jobs are forgotten from the 257th on', () => {
  const stage = new LedgerStage();
  for (let n = 0; n <= 256; n++) stage.serve({ ...JOB, job_id: `j${n}`, claim_id: `c${n}` });
  const claims = ['c0', 'c1', 'c256'].map((claimId) => ({ ...CLAIM, claimId }));
  const uses = stage.ledger.now(claims.map((one) => ({ ...one, phase: 'spooled', bytes: 0 })));
  expect(uses.map(({ seconds }) => seconds)).toEqual([null, 10, 10]);
});

test.each([
  ['ok', 0, (stage: LedgerStage) => stage.serve()],
  ['failed', 1, (stage: LedgerStage) => stage.ledger.begin(opened()).failed('LOCAL_ERROR')],
  ['failed', 1, (stage: LedgerStage) => stage.ledger.begin(opened()).failed('DEADLINE')],
  ['canceled', 0, (stage: LedgerStage) => stage.ledger.begin(opened()).failed('CANCELED')],
  ['yielded', 0, (stage: LedgerStage) => stage.ledger.begin(opened()).failed('YIELDED')],
  ['failed', 1, refuse],
] as const)('a run that ends as %s counts %d as failed', (outcome, failed, end) => {
  const stage = new LedgerStage();
  end(stage);
  expect(stage.ledger.today.total).toMatchObject({ requests: 1, failed });
  expect(stage.ledger.tally.requests('llm-1', 'sync', outcome)).toBe(1);
});

function refuse({ ledger }: LedgerStage): void {
  const record = ledger.begin(opened());
  record.answering(400);
  record.succeeded(null);
}

test('what comes after the last word counts nothing', () => {
  const { ledger } = new LedgerStage();
  const record = ledger.begin(opened());
  record.succeeded(null);
  record.failed('INTERNAL');
  record.succeeded(null);
  expect(ledger.today.total).toMatchObject({ requests: 1, failed: 0 });
  expect(ledger.tally.requests('llm-1', 'sync', 'failed')).toBe(0);
});

test('services are counted apart, and by kind', () => {
  const stage = new LedgerStage();
  stage.serve();
  stage.serve(JOB);
  stage.serve({ service_id: 'llm-2' });
  const { tally } = stage.ledger;
  expect(tally.requests('llm-1', 'sync', 'ok')).toBe(1);
  expect(tally.requests('llm-1', 'job', 'ok')).toBe(1);
  expect(tally.sums('llm-1')).toMatchObject({ requests: 2, promptTokens: 14, seconds: 20 });
  expect(tally.sums('llm-2')).toMatchObject({ requests: 1, completionTokens: 5 });
  expect(tally.sums('llm-3').requests).toBe(0);
});

test('runs share what the cards take while they are under way', () => {
  const stage = new LedgerStage();
  const { ledger } = stage;
  stage.sample(300, 60, null);
  ledger.begin(opened({ request_id: 'long' }));
  stage.pass(2);
  ledger.begin(opened({ request_id: 'short' }));
  stage.pass(2);
  const [long, short] = ledger.now([]);
  // 360 W for 2 s alone, and half of that for 2 s.
  expect(long?.energyWh).toBeCloseTo(1_080 / 3_600, 9);
  expect(short?.energyWh).toBeCloseTo(360 / 3_600, 9);
});

test('a run between two samples has its share, too', () => {
  const stage = new LedgerStage();
  stage.sample(100);
  stage.pass(0.1);
  const record = stage.ledger.begin(opened());
  stage.pass(0.2);
  record.succeeded(null);
  stage.pass(0.2);
  stage.sample(400);
  expect(stage.ledger.today.total.energyWh).toBeCloseTo(20 / 3_600, 9);
});

test('a sample is believed for five seconds', () => {
  const stage = new LedgerStage();
  stage.sample(100);
  stage.ledger.begin(opened());
  stage.pass(3_600);
  stage.sample(100);
  stage.pass(1);
  expect(stage.ledger.now([])[0]?.energyWh).toBeCloseTo(600 / 3_600, 9);
});

test('a run whose server is on another machine has no part in what the cards here take', () => {
  const stage = new LedgerStage();
  stage.sample(100);
  const there = stage.ledger.begin(opened({ request_id: 'there' }), { isHere: false });
  stage.ledger.begin(opened({ request_id: 'here' }));
  stage.pass(1);
  const [first, second] = stage.ledger.now([]);
  expect([first?.energyWh, second?.energyWh]).toEqual([null, 100 / 3_600]);
  there.succeeded(null);
  stage.pass(1);
  expect(stage.ledger.now([])[0]?.energyWh).toBeCloseTo(200 / 3_600, 9);
});

test('where no card tells its power, energy is not known', () => {
  const stage = new LedgerStage();
  stage.sample(null);
  stage.serve();
  expect(stage.ledger.today.total.energyWh).toBeNull();
});

test('tokens of a job that nobody takes are taken back, and its time is not', () => {
  const stage = new LedgerStage();
  stage.serve(JOB);
  const { today } = stage.ledger;
  expect(today.total).toMatchObject({ requests: 1, promptTokens: 7, completionTokens: 5 });
  const { seconds } = today.total;
  stage.ledger.unused('claim-1');
  stage.ledger.unused('claim-1');
  stage.ledger.unused('another');
  const none = { promptTokens: 0, completionTokens: 0 };
  expect(today.total).toMatchObject({ requests: 1, ...none, seconds });
});
