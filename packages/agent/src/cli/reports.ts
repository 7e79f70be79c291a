/** The report of `status`, as sent over the control socket and printed by `status --json`. */
import * as z from 'zod';
import { assertNever } from '@inference-gateway/shared/assert';
import { isoTime } from '@inference-gateway/shared/program/print';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { AGENT_VERSION } from '../own-files.js';
import type { AgentStatus, Agent } from '../agent.js';
import type { TestedModel } from '../backends/catalog/catalog.js';

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
  /** Models that are not offered: `proving`, or `failed` with the reason. */
  held_back: z.array(
    z.object({ id: z.string(), state: z.string(), reason: z.string().nullable() }),
  ),
  slots: z.number(),
});

/** Unknown values are null. */
const gpu = z.object({
  name: z.string().nullable(),
  /** 0 to 100. */
  use_percent: z.number().nullable(),
  memory_used_mib: z.number().nullable(),
  memory_mib: z.number().nullable(),
  power_watts: z.number().nullable(),
});

const ownerReason: z.ZodType<OwnerReason> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('draining') }),
  z.object({ kind: z.literal('paused'), until: z.number().nullable() }),
  z.object({ kind: z.literal('card_in_use'), program: z.string().nullable() }),
  z.object({ kind: z.literal('outside_hours'), hours: z.string() }),
]);

const sums = z.object({
  requests: z.number(),
  failed: z.number(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  /** Requests whose tokens the local server did not count. */
  estimated: z.number().default(0),
  /** Total duration of the runs. */
  seconds: z.number(),
  /** Null if no card reports its power. */
  energy_wh: z.number().nullable(),
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
  /** Running requests. */
  streams: z.number(),
  /** Whose work is accepted: `all`, `own` (paused) or `none` (draining). */
  accepts: z.string(),
  /** When a pause ends; null if there is no pause, or no end. */
  paused_until: z.number().nullable(),
  /** The reason why not all work is accepted. */
  owner_reason: ownerReason.nullable(),
  services: z.array(service),
  gpus: z.array(gpu),
  /** Since midnight. */
  today: sums,
  /** Size of answers that the coordinator has not confirmed. */
  spool_bytes: z.number(),
});

export type StatusReport = z.infer<typeof report>;

/**
 * The part of `report` that `upgrade` reads, of older and of newer versions: names and types of
 * these fields never change.
 */
const running = z.object({
  agent_version: z.string(),
  connection: z.string(),
  reason: z.string().nullable().catch(null),
  accepts: z.string().nullable().catch(null),
});

export type RunningAgent = z.infer<typeof running>;

/** Null if the agent is of a version that answers in another way. */
export function decodeRunningAgent(value: unknown): RunningAgent | null {
  return running.safeParse(value).data ?? null;
}

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

// Why not all work is accepted: as sent over the control socket, and in words.
type OwnerReason = NonNullable<AgentStatus['ownerReason']>;

/** Null: all work is accepted. */
export function decodeOwnerReason(value: unknown): OwnerReason | null {
  return decodeAnswer(ownerReason.nullable(), value ?? null);
}

/** A sentence without initial capital and full stop. */
export function ownerReasonText(reason: OwnerReason): string {
  switch (reason.kind) {
    case 'draining':
      return 'no work is accepted until "gateway-agent resume"';
    case 'paused':
      return `only your own work is accepted until ${endOf(reason.until)}`;
    case 'card_in_use':
      return (
        `the card is in use${reason.program === null ? '' : ` by ${reason.program}`}: ` +
        "others' work is accepted once it has been free for a minute"
      );
    case 'outside_hours':
      return `others' work is accepted only at ${reason.hours}`;
    default:
      return assertNever(reason);
  }
}

function endOf(until: number | null): string {
  return until === null ? '"gateway-agent resume"' : isoTime(until);
}

// Sums of runs, for `status` and `jobs --today`.
function sumsReport(of: AgentStatus['today']): z.infer<typeof sums> {
  return {
    requests: of.requests,
    failed: of.failed,
    prompt_tokens: of.promptTokens,
    completion_tokens: of.completionTokens,
    estimated: of.estimated,
    seconds: rounded(of.seconds),
    energy_wh: of.energyWh === null ? null : rounded(of.energyWh),
  };
}

/** To a thousandth: more digits have no meaning. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

// What the running agent answered on its control socket.

/** Throws if this program does not know the answer's form. */
function decodeAnswer<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new CommandError(
    EXIT.failure,
    'the running agent answers as another version does: restart it, so that both are one.',
    { cause: parsed.error },
  );
}

// The report of `jobs --today`, as sent over the control socket and printed by `--json`.
const row = sums.extend({
  /** The public name. All three are null in the row for callers without their own row. */
  caller: z.string().nullable(),
  /** Whether the caller owns this machine. */
  own: z.boolean().nullable(),
  model: z.string().nullable(),
});

export type TodayRow = z.infer<typeof row>;

export function decodeTodayReport(value: unknown): TodayRow[] {
  return decodeAnswer(z.array(row), value);
}

export function todayReport({ today }: Agent['ledger']): TodayRow[] {
  return today.rows.map(({ caller, own, model, ...its }) => ({
    caller,
    own,
    model,
    ...sumsReport(its),
  }));
}

// The report of `jobs`, as sent over the control socket and printed by `jobs --json`.
const jobRow = z.object({
  /** The job's id, or the request's id if a caller waits for the answer. */
  id: z.string(),
  /** `sync` or `job`. */
  kind: z.string(),
  /** Null for a synchronous call, as is the claim. */
  job_id: z.string().nullable(),
  claim_id: z.string().nullable(),
  /** Null if an earlier process ran it, as are the tokens and the seconds. */
  service_id: z.string().nullable(),
  model: z.string(),
  endpoint: z.string(),
  /** The caller's public name. */
  caller: z.string(),
  /** Whether the caller owns this machine. */
  own: z.boolean(),
  /** `loading`, `running` or `spooled`. */
  phase: z.string(),
  /** Unix ms at which the run began. */
  since: z.number(),
  /** Null until the local server has reported them. */
  prompt_tokens: z.number().nullable(),
  completion_tokens: z.number().nullable(),
  /** Duration of the run. */
  seconds: z.number().nullable(),
  /** Its share of the cards' energy; null if they do not report power. */
  energy_wh: z.number().nullable(),
  /** Size of the answer so far. */
  bytes: z.number(),
});

export type JobRow = z.infer<typeof jobRow>;

export function decodeJobsReport(value: unknown): JobRow[] {
  return decodeAnswer(z.array(jobRow), value);
}

export function jobsReport(uses: ReturnType<Agent['uses']>): JobRow[] {
  return uses.map(({ id, kind, model, endpoint, caller, own, phase, since, bytes, ...use }) => ({
    id,
    kind,
    job_id: use.jobId,
    claim_id: use.claimId,
    service_id: use.serviceId,
    model,
    endpoint,
    caller,
    own,
    phase,
    since,
    prompt_tokens: use.promptTokens,
    completion_tokens: use.completionTokens,
    seconds: use.seconds === null ? null : rounded(use.seconds),
    energy_wh: use.energyWh === null ? null : rounded(use.energyWh),
    bytes,
  }));
}

// The report of `test`, as sent over the control socket and printed by `test --json`.

const trialReport = z.object({
  model: z.string(),
  service: z.string(),
  type: z.string(),
  ok: z.boolean(),
  /** Null if no byte arrived. */
  first_byte_ms: z.number().nullable(),
  ms: z.number(),
  tokens: z.number().nullable(),
  bytes: z.number(),
  seconds: z.number().nullable(),
  /** Why it failed. */
  reason: z.string().nullable(),
  /** The server was unreachable, or the agent stopped: this says nothing of the model. */
  cut: z.enum(['unreachable', 'stopped']).nullable(),
});

export type TestReport = z.infer<typeof trialReport>;

export function decodeTestReport(value: unknown): TestReport {
  return decodeAnswer(trialReport, value);
}

/** Without `early`, which only the prover uses. */
export function testReport({ firstByteMs, early: _early, ...rest }: TestedModel): TestReport {
  return { ...rest, first_byte_ms: firstByteMs };
}
