/** What the running agent answers on its control socket: a row for each command that asks it. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { Agent } from '../agent.js';
import type { ControlTable } from '../state/control.js';
import { jobsReport } from './jobs-report.js';
import { statusReport } from './status-report.js';
import { todayReport } from './today-report.js';
import { testReport } from './test-report.js';
import type { TestReport } from './test-report.js';

const pauseOrder = z.object({ until: z.int().nullable(), now: z.boolean() });
const drainOrder = z.object({ timeout_ms: z.int().positive() });
const testOrder = z.object({
  model: z.string().nullable(),
  service: z.string().nullable(),
  limit_ms: z.int().positive().nullable(),
});

export function controlTable(configFile: string, agent: Agent): ControlTable {
  const { owner } = agent;
  return {
    status: () => statusReport(configFile, agent.status()),
    jobs: () => jobsReport(agent.uses()),
    today: () => todayReport(agent.ledger),
    pause: (args) => owner.pause(read(pauseOrder, args)),
    resume: () => resume(agent),
    drain: (args) => drain(agent, read(drainOrder, args).timeout_ms),
    test: (args) => test(agent, args),
  };
}

/** Answers why not everybody's work is let in even so. */
async function resume({ owner }: Agent): Promise<unknown> {
  await owner.resume();
  return owner.reason;
}

async function test(agent: Agent, args: unknown): Promise<TestReport> {
  const { limit_ms: limitMs, ...order } = read(testOrder, args);
  return testReport(await agent.test({ ...order, limitMs }));
}

async function drain(agent: Agent, timeoutMs: number): Promise<void> {
  if (await agent.owner.drain(timeoutMs)) return;
  const { running } = agent.status();
  const kept = agent.owner.jobs().filter(({ phase }) => phase === 'spooled').length;
  throw new CommandError(
    EXIT.timeout,
    `not drained within ${timeoutMs / 1_000} s: ${running} under way, ${kept} finished and not ` +
      'yet confirmed by the coordinator. Nothing new is let in. Wait with another ' +
      '"gateway-agent drain", or take it back with "resume".',
  );
}

function read<T>(schema: z.ZodType<T>, args: unknown): T {
  const parsed = schema.safeParse(args);
  if (parsed.success) return parsed.data;
  throw new CommandError(
    EXIT.usage,
    'the running agent does not understand this: restart it, so that both have one version.',
    { cause: parsed.error },
  );
}
