/** What the running agent answers on its control socket: a row for each command that asks it. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import type { Agent } from '../agent.js';
import type { ControlTable } from '../state/control.js';
import { jobsReport } from './jobs-report.js';
import { statusReport } from './status-report.js';

const pauseOrder = z.object({ until: z.int().nullable(), now: z.boolean() });
const drainOrder = z.object({ timeout_ms: z.int().positive() });

export function controlTable(configFile: string, agent: Agent): ControlTable {
  const { owner } = agent;
  return {
    status: () => statusReport(configFile, agent.status()),
    jobs: () => jobsReport(owner.jobs()),
    pause: (args) => owner.pause(read(pauseOrder, args)),
    resume: () => owner.resume(),
    drain: (args) => drain(agent, read(drainOrder, args).timeout_ms),
  };
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
