import { checkReachable } from '@inference-gateway/agent/checks/coordinator';
import { expect, test } from 'vitest';
import { deadOrigin, httpServer } from '../cli/agent-program.js';

test('a coordinator that says nothing is waited for only so long', async () => {
  const silent = await httpServer(() => undefined);
  const { check, clockLeadMs } = await checkReachable(silent, 100);
  expect(check.status).toBe('FAIL');
  expect(check.found).toContain(`${silent} cannot be reached: `);
  expect(clockLeadMs).toBeNull();
});

test('why nobody answers is told in words', async () => {
  const { check } = await checkReachable(await deadOrigin());
  expect(check.found).toContain('nothing listens there (connect ECONNREFUSED');
});
