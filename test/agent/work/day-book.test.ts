import { readFile, stat, writeFile } from 'node:fs/promises';
import { MAX_DAY_ROWS } from '@inference-gateway/agent/work/ledger';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/until.js';
import { LedgerStage, NOON } from './ledger-stage.js';

const ANNA = { caller: { name: 'Anna', own: true } };

test('a caller and a model make a row, the longest first', () => {
  const stage = new LedgerStage();
  stage.serve(ANNA);
  stage.serve();
  stage.serve();
  stage.serve({ model: 'large' });
  const rows = stage.ledger.today.rows.map(({ caller, own, model, requests }) => {
    return [caller, own, model, requests];
  });
  expect(rows).toEqual([
    ['Ben', false, 'tiny', 2],
    ['Anna', true, 'tiny', 1],
    ['Ben', false, 'large', 1],
  ]);
  expect(stage.ledger.today.rows[0]).toMatchObject({ promptTokens: 14, completionTokens: 10 });
  expect(stage.ledger.today.total).toMatchObject({ requests: 4, seconds: 40, failed: 0 });
});

test('two callers of one name are told apart by whose machine it is', () => {
  const stage = new LedgerStage();
  stage.serve({ caller: { name: 'Anna', own: false } });
  stage.serve(ANNA);
  expect(stage.ledger.today.rows).toHaveLength(2);
});

test('what has no row of its own is summed up in one', () => {
  const stage = new LedgerStage();
  for (let n = 0; n < MAX_DAY_ROWS + 4; n++) stage.serve({ model: `m${n}` });
  stage.serve({ model: 'm0' });
  const { rows, total } = stage.ledger.today;
  expect(rows).toHaveLength(MAX_DAY_ROWS);
  expect(rows[0]).toMatchObject({ caller: null, own: null, model: null, requests: 5 });
  expect(rows[1]).toMatchObject({ caller: 'Ben', model: 'm0', requests: 2 });
  expect(total.requests).toBe(MAX_DAY_ROWS + 5);
});

test('the sums begin anew at midnight of this machine', () => {
  const stage = new LedgerStage();
  stage.wallMs = new Date(2026, 2, 14, 23, 59, 30).getTime();
  stage.serve();
  expect(stage.ledger.today).toMatchObject({ day: '2026-03-14', total: { requests: 1 } });
  stage.pass(30);
  expect(stage.ledger.today).toMatchObject({ day: '2026-03-15', rows: [], total: { requests: 0 } });
  stage.serve();
  expect(stage.ledger.today.total.requests).toBe(1);
});

test('the sums outlive the agent until midnight', async () => {
  const folder = await temporaryFolder();
  const first = new LedgerStage(folder);
  first.sample(72);
  first.serve();
  await first.ledger.today.close();
  expect((await stat(`${folder}/today.json`)).mode & 0o777).toBe(0o600);
  const second = new LedgerStage(folder);
  await second.ledger.today.restore();
  expect(second.ledger.today.rows).toEqual(first.ledger.today.rows);
  second.serve();
  expect(second.ledger.today.total).toMatchObject({ requests: 2, seconds: 20, energyWh: 0.1 });
  await second.ledger.today.close();
  const next = new LedgerStage(folder);
  next.wallMs = NOON + 86_400_000;
  await next.ledger.today.restore();
  expect(next.ledger.today.total.requests).toBe(0);
});

test('sums that make no sense begin anew, which is logged', async () => {
  const folder = await temporaryFolder();
  await writeFile(`${folder}/today.json`, '{"day":"2026-03-14","rows":[{}]}');
  const { logger, lines } = keptLog();
  const stage = new LedgerStage(folder, { logger });
  await stage.ledger.today.restore();
  expect(stage.ledger.today.total.requests).toBe(0);
  expect(lines.join('')).toContain("today's sums cannot be read");
  stage.serve();
  await stage.ledger.today.close();
  expect(await readFile(`${folder}/today.json`, 'utf8')).toContain('"caller":"Ben"');
});

test('many runs are written together, after a while', async () => {
  const folder = await temporaryFolder();
  const stage = new LedgerStage(folder, { writeEveryMs: 50 });
  stage.serve();
  stage.serve();
  await expect(stat(`${folder}/today.json`)).rejects.toThrow('ENOENT');
  const written = await until(() => readFile(`${folder}/today.json`, 'utf8').catch(() => null));
  expect(JSON.parse(written)).toMatchObject({ day: '2026-03-14', rows: [{ requests: 2 }] });
});

test('a disk that takes nothing stops nothing', async () => {
  const { logger, lines } = keptLog();
  const stage = new LedgerStage('/nonexistent', { logger });
  stage.serve();
  await stage.ledger.today.close();
  expect(lines.join('')).toContain("today's sums cannot be written");
  expect(stage.ledger.today.total.requests).toBe(1);
});

function keptLog() {
  const lines: string[] = [];
  const warn = (...said: unknown[]): void => void lines.push(JSON.stringify(said));
  return { lines, logger: { warn } };
}
