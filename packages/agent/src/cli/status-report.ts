/** What `status` tells, as it crosses the control socket and as `status --json` prints it. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import * as z from 'zod';
import { AGENT_VERSION } from '../agent-version.js';
import type { AgentStatus } from '../agent.js';

const service = z.object({
  id: z.string(),
  type: z.string(),
  backend: z.string(),
  base_url: z.string(),
  /** `starting`, `up` or `down`. */
  state: z.string(),
  /** Unix milliseconds, like all times here. */
  since: z.number(),
  reason: z.string().nullable(),
  models: z.array(z.string()),
  slots: z.number(),
});

const report = z.object({
  running: z.literal(true),
  pid: z.number(),
  agent_version: z.string(),
  config: z.string(),
  url: z.string(),
  name: z.string().nullable(),
  /** `online`, `connecting` or `stopping`. */
  connection: z.string(),
  since: z.number(),
  reason: z.string().nullable(),
  /** Requests under way. */
  streams: z.number(),
  /** Whose work is let in: `all`, `own` (paused) or `none` (draining). */
  accepts: z.string(),
  /** When a pause ends; null where there is none, or none with an end. */
  paused_until: z.number().nullable(),
  services: z.array(service),
});

export type StatusReport = z.infer<typeof report>;

/** Reads what the running agent answered. */
export function decodeStatusReport(value: unknown): StatusReport {
  const parsed = report.safeParse(value);
  if (parsed.success) return parsed.data;
  throw otherVersion(parsed.error);
}

export function otherVersion(cause: unknown): CommandError {
  return new CommandError(
    EXIT.failure,
    'the running agent answers as another version does: restart it, so that both are one.',
    { cause },
  );
}

export function statusReport(configFile: string, status: AgentStatus): StatusReport {
  return {
    running: true,
    pid: process.pid,
    agent_version: AGENT_VERSION,
    config: configFile,
    url: status.url,
    name: status.name,
    connection: status.connection,
    since: status.since,
    reason: status.reason,
    streams: status.running,
    accepts: status.accepts,
    paused_until: status.pausedUntil,
    services: status.services.map(({ baseUrl, ...rest }) => ({
      ...rest,
      models: [...rest.models],
      base_url: baseUrl,
    })),
  };
}
