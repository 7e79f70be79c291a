import { MeteredWork } from '@inference-gateway/agent/work/runner';
import { expect, test } from 'vitest';
import { LedgerStage } from './ledger-stage.js';
import { openWork } from './work-stage.js';

function meteredWork() {
  const { ledger } = new LedgerStage();
  const { work, sent } = openWork([]);
  const metered = new MeteredWork(work, ledger.begin(work.open));
  return { ledger, work, metered, said: () => sent.map((frame) => JSON.parse(frame) as unknown) };
}

test('what a run says reaches the link, and the ledger what it amounts to', async () => {
  const { ledger, metered } = meteredWork();
  metered.progress('loading');
  expect(ledger.now([])).toMatchObject([{ phase: 'loading', bytes: 0 }]);
  metered.head(200, 'application/json');
  await metered.data(Buffer.from('{"text":"a secret"}'));
  const [use] = ledger.now([]);
  expect(use).toMatchObject({ phase: 'running', bytes: 19 });
  expect(JSON.stringify(use)).not.toContain('secret');
  metered.end({ usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } });
  expect(ledger.now([])).toEqual([]);
  expect(ledger.today.total).toMatchObject({ requests: 1, promptTokens: 3, completionTokens: 4 });
});

test('it says what the work would say', () => {
  const { metered, work, said } = meteredWork();
  metered.progress('loading');
  metered.fail('LOCAL_TIMEOUT', 'it hangs');
  expect(said()).toMatchObject([
    { t: 'ACCEPT' },
    { t: 'PROGRESS', phase: 'loading' },
    { t: 'RESET', code: 'LOCAL_TIMEOUT', message: 'it hangs' },
  ]);
  expect([metered.open, metered.request]).toEqual([work.open, work.request]);
  metered.stop('yielded');
  expect([work.signal.aborted, metered.signal.reason]).toEqual([true, 'yielded']);
});

test('a failure is counted by what it was', () => {
  const { ledger, metered } = meteredWork();
  metered.fail('YIELDED', '');
  metered.fail('INTERNAL', 'again');
  expect(ledger.tally.requests('stt-0', 'sync', 'yielded')).toBe(1);
  expect(ledger.tally.requests('stt-0', 'sync', 'failed')).toBe(0);
});
