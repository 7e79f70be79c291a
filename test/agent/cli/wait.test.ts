import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { agentHome, deadOrigin } from './agent-program.js';
import { fakeCoordinator } from './fake-coordinator.js';

test('it ends as soon as the agent is online, even where it was started later', async () => {
  const home = await agentHome();
  const { origin } = await fakeCoordinator();
  await home.enrolAt(origin);
  const waiting = home.start(['wait', '--timeout', '30s', '--config', home.configFile]);
  // It finds no agent for a while.
  await pause(600);
  expect(waiting.child.exitCode).toBeNull();
  home.start(['start', '--demo', '--config', home.configFile]);
  const { code, stdout } = await waiting.finished;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `online as den-pc at ${origin}\n` });
});

test('after its time it exits 8 and says what is missing', async () => {
  const home = await agentHome();
  await home.enrolAt(await deadOrigin());
  const args = ['wait', '--timeout', '1s', '--config', home.configFile];
  const none = await home.run(args);
  expect(none).toMatchObject({ code: 8, stdout: '' });
  expect(none.stderr).toContain('no agent runs');
  const agent = home.start(['start', '--demo', '--config', home.configFile]);
  await until(() => agent.output.stderr.includes('not connected'));
  const offline = await home.run(args);
  expect(offline).toMatchObject({ code: 8, stdout: '' });
  expect(offline.stderr).toContain('ECONNREFUSED');
});
