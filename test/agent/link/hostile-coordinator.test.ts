/** What a coordinator cannot make an agent do. */
import { expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { jobStage } from './job-stage.js';
import { welcome } from './scripted-coordinator.js';

const STREAMS = Array.from({ length: 1_000 }, (_, i) => i + 2);
/** Each makes the agent send about 75 kB, in all more than three times what it may buffer. */
const QUESTIONS = 400;

test('one that asks and never reads is cut off before the memory is full', async () => {
  const { coordinator, startAgent } = await jobStage();
  const agent = await startAgent();
  const link = await coordinator.link(0);
  link.stopReading();
  const unheld = STREAMS.map((stream) => {
    return { claim_id: 'unheld', action: 'upload', stream } as const;
  });
  for (let asked = 0; asked < QUESTIONS; asked++) link.send(welcome(unheld));
  await until(() => agent.status().connection === 'connecting');
  expect(agent.status().reason).toContain('1006');
});
