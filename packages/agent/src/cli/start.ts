/**
 * `gateway-agent start`: serves until it is told to stop, or until the coordinator will have it
 * no more.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { createLogger } from '@inference-gateway/shared/program/logger';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { print, say } from '@inference-gateway/shared/program/print';
import { onShutdown } from '@inference-gateway/shared/program/shutdown';
import type { Command } from 'commander';
import { Agent } from '../agent.js';
import type { ServiceConfig } from '../backends/backend.js';
import { loadConfig, locateConfig } from '../config.js';
import type { AgentConfig } from '../config.js';
import { toService } from '../config-services.js';
import { DEMO_SERVICES } from '../demo/models.js';
import { startDemoServer } from '../demo/server.js';
import { probeHost } from '../hardware/probe.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import type { Ffmpeg } from '../media/ffmpeg.js';
import type { HostProbe } from '../hardware/probe.js';
import { openControl } from '../state/control.js';
import { controlTable } from './control-table.js';
import { configOption, example } from './options.js';
import type { ConfigOption } from './options.js';
import { addFound } from './services-scan.js';

interface StartOptions extends ConfigOption {
  readonly once?: boolean;
  readonly demo?: boolean;
  readonly yes?: boolean;
}

/** A service: enough for a few people to try it at once. */
const DEMO_SLOTS = 4;

export function addStart(program: Command): void {
  program
    .command('start')
    .description('connect to the coordinator and serve; prints one line when registered')
    .option('--once', 'end when the link ends, instead of dialling again')
    .option('--demo', 'serve built-in demo models too, which need no GPU')
    .option('--yes', 'with no services configured: add all that "services scan" finds')
    .addOption(configOption())
    .addHelpText('after', example('start --demo'))
    .action(start);
}

async function start(options: StartOptions): Promise<void> {
  const config = await loadConfig(locateConfig(options.config));
  const coordinator = requireEnrolled(config);
  const demo = options.demo === true ? await startDemoServer() : null;
  try {
    const services = await servicesOf(config, options, demo?.baseUrl ?? null);
    await serve({ config, coordinator, services, once: options.once === true });
  } finally {
    await demo?.close();
  }
}

interface Coordinator {
  readonly url: string;
  readonly token: string;
}

function requireEnrolled({ url, token, location }: AgentConfig): Coordinator {
  if (url !== null && token !== null) return { url, token };
  const missing =
    token === null ? `no token in ${location.tokenFile}` : `no url in ${location.file}`;
  throw new CommandError(
    EXIT.notAuthorised,
    `this agent is not enrolled: ${missing}. ` +
      'Run: gateway-agent enroll --url <coordinator> --token-file <join token>, or, without one, ' +
      'gateway-agent login --url <coordinator>.',
  );
}

async function servicesOf(
  config: AgentConfig,
  options: StartOptions,
  demoUrl: string | null,
): Promise<readonly ServiceConfig[]> {
  const services = [...config.services, ...(demoUrl === null ? [] : demoServices(demoUrl))];
  if (services.length > 0) return services;
  if (options.yes === true && (await addFound(config.location)).length > 0) {
    return (await loadConfig(config.location)).services;
  }
  throw new CommandError(
    EXIT.usage,
    `no services in ${config.location.file}: there is nothing to serve. Look for model ` +
      'servers with "gateway-agent services scan --add", or try it with "start --demo".',
  );
}

/** One a type, all of the same server. */
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
}

async function serve({ config, coordinator, services, once }: Plan): Promise<void> {
  const logger = createLogger(config.logLevel);
  const probe = probeHost(logger);
  const host = () => probe.current();
  const ffmpeg = await findConverter(config, logger);
  const { name } = config;
  const { file, stateDir } = config.location;
  const setting = { name, services, host, logger, once, ffmpeg, stateDir };
  const agent = new Agent({ ...coordinator, ...setting });
  const control = await openControl(stateDir, controlTable(file, agent));
  onShutdown(async () => {
    await agent.drain();
    await control.close();
  }, 'Draining: finishing what is under way, taking nothing new.');
  void announceHost(probe, agent);
  try {
    await agent.start();
    print(onlineLine(agent, coordinator.url));
    const ended = await agent.closed;
    if (ended !== null) throw ended;
  } finally {
    await control.close();
  }
}

/** Without ffmpeg all is served that the local servers can do by themselves. */
async function findConverter(config: AgentConfig, logger: Logger): Promise<Ffmpeg | null> {
  const found = await findFfmpeg(config.ffmpeg);
  if (found === null && config.ffmpeg !== null) {
    const message = `${config.ffmpeg} does not run. Correct "ffmpeg" in the configuration.`;
    throw new CommandError(EXIT.notFound, message);
  }
  logger.info({ ffmpeg: found?.path ?? null }, 'converter of audio');
  return found;
}

/** HELLO does not wait for the hardware: what is found later follows it. */
async function announceHost(probe: HostProbe, agent: Agent): Promise<void> {
  await probe.ready;
  agent.announce();
}

function onlineLine(agent: Agent, url: string): string {
  const models = agent.status().services.reduce((sum, { models }) => sum + models.length, 0);
  if (models === 0) say('No model is up yet: see "gateway-agent status" for the reason.');
  return `online as ${agent.name} at ${url} with ${models} ${models === 1 ? 'model' : 'models'}`;
}
