import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBackend } from '@inference-gateway/agent/backends/create-backend';
import { Proofs } from '@inference-gateway/agent/backends/proving/prover';
import type { Subject, Trial } from '@inference-gateway/agent/backends/proving/try-model';
import { ProofFile } from '@inference-gateway/agent/state/proof-file';
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import { expect, test } from 'vitest';
import { configuredServer } from '../../../support/configured-server.js';
import { localCall } from '../../../support/local-call.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const NOW = 1_800_000_000_000;
const MINUTE_MS = 60_000;

test('a model is offered at once where it is trusted, else when it has passed', async () => {
  const proofs = new Proofs(null);
  const trusted = subject('tiny', { prove: false });
  expect(proofs.verdict(trusted.config, trusted.model)).toEqual({ state: 'offered' });
  expect(proofs.due([trusted], NOW)).toEqual([]);
  const one = subject('tiny');
  expect(proofs.verdict(one.config, one.model)).toEqual({ state: 'proving' });
  await proofs.note(one, failed('no memory'), NOW);
  expect(proofs.verdict(one.config, one.model)).toEqual({ state: 'failed', reason: 'no memory' });
  await proofs.note(one, PASSED, NOW);
  expect(proofs.verdict(one.config, one.model)).toEqual({ state: 'offered' });
});

test('loaded models come first, and what failed comes last', async () => {
  const proofs = new Proofs(null);
  const [cold, warm, broken] = [subject('cold'), subject('warm', {}, true), subject('broken')];
  await proofs.note(broken, failed('no'), NOW - 11 * MINUTE_MS);
  const due = proofs.due([broken, cold, warm], NOW);
  expect(due.map(({ model }) => model.id)).toEqual(['warm', 'cold', 'broken']);
});

test.each([
  [1, 9, 0],
  [1, 10, 1],
  [2, 59, 0],
  [2, 60, 1],
  [5, 60, 1],
  [1, -1, 1],
])('after %i failures in a row, %i minutes later: asked %i times', async (times, minutes, asks) => {
  const proofs = new Proofs(null);
  const one = subject('tiny');
  for (let i = 0; i < times; i++) await proofs.note(one, failed('no'), NOW);
  expect(proofs.due([one], NOW + minutes * MINUTE_MS)).toHaveLength(asks);
});

test('a passed test counts anew: the next failure is the first', async () => {
  const proofs = new Proofs(null);
  const one = subject('tiny');
  for (const trial of [failed('no'), failed('no'), PASSED, failed('no')]) {
    await proofs.note(one, trial, NOW);
  }
  expect(proofs.due([one], NOW + 10 * MINUTE_MS)).toHaveLength(1);
});

test('what was shown outlives a restart, unless the service is another server', async () => {
  const folder = await temporaryFolder();
  const before = new Proofs(new ProofFile(folder));
  const one = subject('tiny');
  await before.note(one, PASSED, NOW);
  await before.note(subject('other'), failed('no'), NOW);
  const after = new Proofs(new ProofFile(folder));
  await after.restore();
  expect(after.verdict(one.config, one.model)).toEqual({ state: 'offered' });
  expect(after.due([subject('other')], NOW)).toEqual([]);
  for (const change of [{ baseUrl: 'http://127.0.0.1:2/v1' }, { backend: 'ollama' }]) {
    const moved = subject('tiny', change);
    expect(after.verdict(moved.config, moved.model)).toEqual({ state: 'proving' });
  }
  const renamed = { ...one.model, served_name: 'tiny-2' };
  expect(after.verdict(one.config, renamed)).toEqual({ state: 'proving' });
});

test('a file that cannot be read is as none', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'proofs.json'), '[{"service":');
  const proofs = new Proofs(new ProofFile(folder));
  await proofs.restore();
  const one = subject('tiny');
  expect(proofs.verdict(one.config, one.model)).toEqual({ state: 'proving' });
  await proofs.note(one, PASSED, NOW);
  expect(await new ProofFile(folder).read()).toMatchObject([{ model: 'tiny', ok: true }]);
});

const CAME = { cut: null, early: null, firstByteMs: 1, ms: 2, tokens: 1, bytes: 1, seconds: null };
const PASSED: Trial = { ok: true, reason: null, ...CAME };

function failed(reason: string): Trial {
  return { ok: false, reason, ...CAME };
}

function subject(
  id: string,
  changes: Partial<ServiceConfig> = {},
  loaded: boolean | null = null,
): Subject {
  const config = configuredServer('http://127.0.0.1:1/v1', { prove: true, ...changes });
  const { model } = localCall({ endpoint: 'chat', id });
  return { config, backend: createBackend(config), model: { ...model, loaded } };
}
