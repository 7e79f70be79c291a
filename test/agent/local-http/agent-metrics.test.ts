import { agentMetrics, exposition } from '@inference-gateway/agent/local-http/agent-metrics';
import { expect, test } from 'vitest';
import { parsePrometheus, valueOf } from '../../support/prometheus-text.js';
import { LedgerStage } from '../work/ledger-stage.js';
import { agentStatus } from './agent-status.js';

function metricsOf(stage: LedgerStage, changes: Parameters<typeof agentStatus>[0] = {}) {
  const text = exposition(agentMetrics(agentStatus(changes), stage.ledger.tally));
  return { text, told: parsePrometheus(text) };
}

test('the link, the load and the spool are told', () => {
  const changes = { running: 2, accepts: 'own', spoolBytes: 512 } as const;
  const { told } = metricsOf(new LedgerStage(), changes);
  expect(valueOf(told, 'gateway_agent_online')).toBe(1);
  expect(valueOf(told, 'gateway_agent_running')).toBe(2);
  expect(valueOf(told, 'gateway_agent_spool_bytes')).toBe(512);
  expect(valueOf(told, 'gateway_agent_accepts', { state: 'own' })).toBe(1);
  expect(valueOf(told, 'gateway_agent_accepts')).toBe(1);
  expect(valueOf(told, 'gateway_agent_service_up', { service: 'llm-1' })).toBe(1);
  const lost = metricsOf(new LedgerStage(), { connection: 'connecting' });
  expect(valueOf(lost.told, 'gateway_agent_online')).toBe(0);
});

test('runs are counted by service, kind and outcome, from zero on', () => {
  const stage = new LedgerStage();
  stage.sample(360);
  stage.serve();
  stage.serve({ kind: 'job', job_id: 'j', claim_id: 'c' });
  const { told } = metricsOf(stage);
  const requests = 'gateway_agent_requests_total';
  const service = 'llm-1';
  expect(told.types.get(requests)).toBe('counter');
  expect(valueOf(told, requests, { service, kind: 'sync', outcome: 'ok' })).toBe(1);
  expect(valueOf(told, requests, { service, kind: 'job', outcome: 'ok' })).toBe(1);
  expect(valueOf(told, requests, { service, kind: 'job', outcome: 'yielded' })).toBe(0);
  expect(valueOf(told, 'gateway_agent_tokens_total', { service, type: 'prompt' })).toBe(14);
  expect(valueOf(told, 'gateway_agent_tokens_total', { service, type: 'completion' })).toBe(10);
  expect(valueOf(told, 'gateway_agent_run_seconds_total', { service })).toBe(20);
  // The one sample is believed for five seconds.
  expect(valueOf(told, 'gateway_agent_energy_joules_total', { service })).toBe(1_800);
});

test('callers and models are no labels', () => {
  const stage = new LedgerStage();
  stage.serve({ caller: { name: 'Benedikta', own: false }, model: 'secret-model' });
  expect(metricsOf(stage).text).not.toMatch(/Benedikta|secret-model/);
});

test('of the cards is told what is known', () => {
  const card = {
    name: 'A',
    usePercent: 40,
    memoryUsedMib: 2,
    temperatureC: 60,
    memoryMib: 8,
    powerWatts: 120.5,
  };
  const blank = {
    usePercent: null,
    memoryUsedMib: null,
    temperatureC: null,
    memoryMib: null,
    powerWatts: null,
  };
  const { told } = metricsOf(new LedgerStage(), { gpus: [{ name: 'B', ...blank }, card] });
  expect(valueOf(told, 'gateway_agent_gpu_use_ratio', { gpu: '1' })).toBe(0.4);
  expect(valueOf(told, 'gateway_agent_gpu_memory_used_bytes', { gpu: '1' })).toBe(2 * 1_048_576);
  expect(valueOf(told, 'gateway_agent_gpu_memory_bytes', { gpu: '1' })).toBe(8 * 1_048_576);
  expect(valueOf(told, 'gateway_agent_gpu_power_watts', { gpu: '1' })).toBe(120.5);
  expect(valueOf(told, 'gateway_agent_gpu_use_ratio', { gpu: '0' })).toBeNull();
});

test('without a card that tells, energy is not told either', () => {
  const stage = new LedgerStage();
  stage.serve();
  const { told } = metricsOf(stage);
  expect(valueOf(told, 'gateway_agent_energy_joules_total')).toBeNull();
  expect(valueOf(told, 'gateway_agent_gpu_power_watts')).toBeNull();
});
