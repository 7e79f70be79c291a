import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { getJson, BATCHES } from '../api/job-calls.js';
import { post } from '../api/requests.js';
import { startQuickModel } from '../support/held-model.js';
import { expectIdle, expectSound, FULL, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { query } from '../support/usage-rows.js';
import { random } from './mixed-load.js';

const LINES = FULL ? 50_000 : 800;
const KILLS = FULL ? 20 : 3;
const LONGEST_LIFE_MS = FULL ? 8_000 : 700;
const ENDED_WITHIN_MS = FULL ? 900_000 : 90_000;
const CHAT = '/v1/chat/completions';
/** Kills of its coordinator are no fault of a job. */
const SETTINGS = { GATEWAY_JOB_LEASE_S: '2', GATEWAY_JOB_MAX_ATTEMPTS: '20' };

interface FileBatch {
  readonly id: string;
  readonly status: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly request_counts: { total: number; completed: number; failed: number };
}

test(
  `${KILLS} kills of the coordinator lose and double none of ${LINES} lines`,
  async () => {
    const server = await startQuickModel();
    const { gateway, coordinator } = await startStage(SETTINGS);
    await gateway.joined('pc', [serviceOf(server, ['m'], { slots: 16 })]);
    const { id } = await submitLines(gateway);
    let program = coordinator;
    for (let i = 0; i < KILLS; i++) {
      await pause(random(LONGEST_LIFE_MS));
      program.child.kill('SIGKILL');
      await program.finished;
      program = await gateway.startCoordinator();
    }
    const batch = await until(
      async () => {
        const read = await getJson<FileBatch>(gateway, `${BATCHES}/${id}`);
        return read.status === 'completed' ? read : null;
      },
      { timeoutMs: ENDED_WITHIN_MS, what: 'the batch completed' },
    );
    expect(batch.request_counts).toEqual({ total: LINES, completed: LINES, failed: 0 });
    expect(batch.error_file_id).toBeNull();
    const output = await gateway.fetch(`/v1/files/${batch.output_file_id}/content`);
    const ids = (await output.text())
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { custom_id: string }).custom_id);
    expect(ids).toEqual(Array.from({ length: LINES }, (_, i) => `line-${i}`));
    const left = 'select id from jobs union all select batch_id from batch_lines limit 1';
    await until(() => query(gateway, left).length === 0, { timeoutMs: ENDED_WITHIN_MS });
    await expectIdle(gateway, 'm');
    expectSound(gateway);
    expect((await gateway.admin('asset', 'verify')).code).toBe(0);
  },
  ENDED_WITHIN_MS + 120_000,
);

async function submitLines(gateway: Stage): Promise<FileBatch> {
  const lines = Array.from({ length: LINES }, (_, i) => {
    const body = { model: 'm', messages: [{ role: 'user', content: `question ${i}` }] };
    return JSON.stringify({ custom_id: `line-${i}`, method: 'POST', url: CHAT, body });
  });
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([lines.join('\n')]), 'night.jsonl');
  const sent = await gateway.fetch('/v1/files', { method: 'POST', body: form });
  expect(sent.status, await sent.clone().text()).toBe(200);
  const { id } = (await sent.json()) as { id: string };
  const asked = { input_file_id: id, endpoint: CHAT, completion_window: '24h' };
  return (await (await post(gateway, asked, { path: BATCHES })).json()) as FileBatch;
}
