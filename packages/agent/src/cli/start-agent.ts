/** Implements `gateway-agent start`. */
import { resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { logFile, createLogger } from '@inference-gateway/shared/program/logger';
import type { LogFormat, Logger, LogLevel } from '@inference-gateway/shared/program/logger';
import { print, say } from '@inference-gateway/shared/program/print';
import { onShutdown } from '@inference-gateway/shared/program/shutdown';
import * as z from 'zod';
import { Agent } from '../agent.js';
import type { ServiceConfig } from '../backends/backend.js';
import { loadConfig } from '../config/config.js';
import type { AgentConfig } from '../config/config.js';
import { toService } from '../config/services.js';
import { DEMO_SERVICES } from '../demo/models.js';
import { startDemoServer } from '../demo/server.js';
import type { GpuWatch } from '../hardware/gpu-sample.js';
import { watchGpus } from '../hardware/gpu-watch.js';
import { probeHost } from '../hardware/probe.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { Ffmpeg } from '../media/ffmpeg.js';
import type { HostProbe } from '../hardware/probe.js';
import { openStatusServer } from '../local-http/status-server.js';
import type { StatusServer } from '../local-http/status-server.js';
import { openControl } from '../state/control.js';
import type { ControlTable } from '../state/control.js';
import { requireEnrolled } from './ask-running.js';
import type { Coordinator } from './ask-running.js';
import type { ConfigOption } from './options.js';
import { addFound } from './services-scan.js';
import { refuseUnasked, settleSharing } from './start-sharing.js';
import type { SharingFlags } from './start-sharing.js';
import { enterConfig } from './options.js';
import {
  askYesNo,
  terminalStreams,
  withTerminal,
} from '@inference-gateway/shared/program/terminal';
import { jobsReport, statusReport, todayReport, testReport } from './reports.js';
import type { TestReport } from './reports.js';

export interface StartOptions extends ConfigOption, SharingFlags {
  readonly once?: boolean;
  readonly statusPort?: number;
  readonly manageModels?: boolean;
  readonly logFile?: string;
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
}

/** Per service: enough for a few people at once. */
const DEMO_SLOTS = 4;

export async function startAgent(options: StartOptions): Promise<void> {
  const config = await loadConfig(enterConfig(options.config));
  const coordinator = requireEnrolled(config);
  refuseUnasked(options, terminalStreams());
  const demo = options.demo === true ? await startDemoServer() : null;
  const gpu = config.gameMode.enabled ? watchGpus() : null;
  try {
    const services = await servicesOf(config, options, demo?.baseUrl ?? null);
    const { once = false, statusPort = config.statusPort } = options;
    const { stateDir } = config.location;
    const sharing = { coordinator, services, flags: options, stateDir };
    const onRegistered = await settleSharing({ ...sharing, streams: terminalStreams() });
    const logger = loggerOf(config, options);
    const models = { ...config.models, manage: options.manageModels ?? config.models.manage };
    const plan = {
      config: { ...config, statusPort, models },
      coordinator,
      services,
      once,
      gpu,
      logger,
    };
    await serve({ ...plan, onRegistered });
  } finally {
    gpu?.close();
    await demo?.close();
  }
}

function loggerOf(config: AgentConfig, options: StartOptions): Logger {
  const { logLevel = config.logLevel, logFormat = config.logFormat } = options;
  const file = options.logFile === undefined ? null : logFile(resolve(options.logFile));
  return createLogger(logLevel, file, logFormat);
}

async function servicesOf(
  config: AgentConfig,
  options: StartOptions,
  demoUrl: string | null,
): Promise<readonly ServiceConfig[]> {
  const services = [...config.services, ...(demoUrl === null ? [] : demoServices(demoUrl))];
  if (services.length > 0) return services;
  if ((await mayAdd(config, options)) && (await addFound(config.location)).length > 0) {
    return (await loadConfig(config.location)).services;
  }
  throw new CommandError(
    EXIT.usage,
    `no services in ${config.location.file}: there is nothing to serve. Look for model ` +
      'servers with "gateway-agent services scan --add", or try it with "start --demo".',
  );
}

async function mayAdd({ location }: AgentConfig, { yes }: StartOptions): Promise<boolean> {
  const streams = terminalStreams();
  if (yes === true || streams === null) return yes === true;
  const look = 'Look for model servers on this machine, and add what is found?';
  const question = `No services in ${location.file}. ${look}`;
  return withTerminal(streams, (terminal) => askYesNo(terminal, question, true));
}

/** One per type, all of the same server. */
function demoServices(baseUrl: string): ServiceConfig[] {
  return DEMO_SERVICES.map(({ id, type, models }) => {
    const named = models.map((model) => ({ id: model }));
    const entry = { id, type, backend: 'openai', slots: DEMO_SLOTS, models: named } as const;
    return toService({ ...entry, base_url: baseUrl }, null);
  });
}

interface Plan {
  readonly config: AgentConfig;
  readonly coordinator: Coordinator;
  readonly services: readonly ServiceConfig[];
  readonly once: boolean;
  readonly gpu: GpuWatch | null;
  readonly logger: Logger;
  /** The remaining step once the agent is registered. */
  readonly onRegistered: () => Promise<void>;
}

async function serve(plan: Plan): Promise<void> {
  const { config, coordinator, services, once, gpu, logger } = plan;
  const probe = probeHost(logger);
  const host = () => probe.current();
  const ffmpeg = await findConverter(config, logger);
  const { name, gameMode, hours, models } = config;
  const { file, stateDir } = config.location;
  const setting = { name, services, host, logger, once, ffmpeg, stateDir };
  const agent = new Agent({ ...coordinator, ...setting, gpu, gameMode, hours, models });
  const control = await openControl(stateDir, controlTable(file, agent));
  onShutdown(async () => {
    await agent.drain();
    await control.close();
  }, 'Draining: finishing what is under way, taking nothing new.');
  void announceHost(probe, agent);
  let local: StatusServer | null = null;
  try {
    if (config.statusPort !== null) local = await openStatusServer(config.statusPort, agent);
    await agent.start();
    print(onlineLine(agent, coordinator.url));
    await plan.onRegistered();
    const ended = await agent.closed;
    if (ended !== null) throw ended;
  } finally {
    await local?.close();
    await control.close();
  }
}

/** Without ffmpeg the built-in converter converts audio. */
async function findConverter(config: AgentConfig, logger: Logger): Promise<Ffmpeg | null> {
  const found = await findFfmpeg(config.ffmpeg);
  if (found === null && config.ffmpeg !== null) {
    const message = `${config.ffmpeg} does not run. Correct "ffmpeg" in the configuration.`;
    throw new CommandError(EXIT.notFound, message);
  }
  logger.info({ ffmpeg: found?.path ?? null, builtIn: found === null }, 'converter of audio');
  return found;
}

/** HELLO does not wait for the hardware: later findings are sent after it. */
async function announceHost(probe: HostProbe, agent: Agent): Promise<void> {
  await probe.ready;
  agent.announce();
}

function onlineLine(agent: Agent, url: string): string {
  const { services } = agent.status();
  const models = services.reduce((sum, { models }) => sum + models.length, 0);
  const isEarly = services.some(
    ({ state, heldBack }) =>
      state === 'starting' || heldBack.some((model) => model.state === 'proving'),
  );
  const reason = isEarly ? 'each is tried first' : 'there is a reason for each';
  if (models === 0) say(`No model is offered yet: ${reason}. See "gateway-agent status".`);
  return `online as ${agent.name} at ${url} with ${models} ${models === 1 ? 'model' : 'models'}`;
}

const pauseOrder = z.object({ until: z.int().nullable(), now: z.boolean() });

const drainOrder = z.object({ timeout_ms: z.int().positive() });

const testOrder = z.object({
  model: z.string().nullable(),
  service: z.string().nullable(),
  limit_ms: z.int().positive().nullable(),
});

/** The running agent's answers on its control socket: one row per command. */
function controlTable(configFile: string, agent: Agent): ControlTable {
  const { owner } = agent;
  return {
    status: () => statusReport(configFile, agent.status()),
    jobs: () => jobsReport(agent.uses()),
    today: () => todayReport(agent.ledger),
    pause: (args) => owner.pause(read(pauseOrder, args)),
    resume: () => resume(agent),
    drain: (args) => drain(agent, read(drainOrder, args).timeout_ms),
    undrain: () => owner.undrain(),
    test: (args) => test(agent, args),
  };
}

/** Answers why not all work is accepted even after the resume. */
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
    `not drained within ${timeoutMs / 1_000} s: ${running} running, ${kept} finished and not ` +
      'yet confirmed by the coordinator. No new work is accepted. Wait with another ' +
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
