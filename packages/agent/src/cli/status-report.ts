/** What `status` tells, as it crosses the control socket and as `status --json` prints it. */
import * as z from 'zod';
import { AGENT_VERSION } from '../agent-version.js';
import type { AgentStatus } from '../agent.js';
import { decodeAnswer } from './decode-answer.js';
import { ownerReason } from './owner-reason.js';
import { sums, sumsReport } from './sums-report.js';

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
  /** Models that callers are not told of: `proving`, or `failed` with the reason. */
  held_back: z.array(
    z.object({ id: z.string(), state: z.string(), reason: z.string().nullable() }),
  ),
  slots: z.number(),
});

/** What is not known is null. */
const gpu = z.object({
  name: z.string().nullable(),
  /** 0 to 100. */
  use_percent: z.number().nullable(),
  memory_used_mib: z.number().nullable(),
  memory_mib: z.number().nullable(),
  power_watts: z.number().nullable(),
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
  /** Why not everybody's work is. */
  owner_reason: ownerReason.nullable(),
  services: z.array(service),
  gpus: z.array(gpu),
  /** Since midnight. */
  today: sums,
  /** Of answers that the coordinator has not confirmed. */
  spool_bytes: z.number(),
});

export type StatusReport = z.infer<typeof report>;

/** Reads what the running agent answered. */
export function decodeStatusReport(value: unknown): StatusReport {
  return decodeAnswer(report, value);
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
    owner_reason: status.ownerReason,
    services: status.services.map(({ baseUrl, heldBack, ...rest }) => ({
      ...rest,
      models: [...rest.models],
      held_back: [...heldBack],
      base_url: baseUrl,
    })),
    gpus: status.gpus.map(({ name, usePercent, memoryUsedMib, memoryMib, powerWatts }) => ({
      name,
      use_percent: usePercent,
      memory_used_mib: memoryUsedMib,
      memory_mib: memoryMib,
      power_watts: powerWatts,
    })),
    today: sumsReport(status.today),
    spool_bytes: status.spoolBytes,
  };
}
