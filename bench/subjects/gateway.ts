/**
 * The product as its users run it: the two programs, with authentication, limits, metering and logs
 * on.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCH_MODEL } from '../load/job.js';
import { repositoryFile, runToEnd, start } from '../processes.js';
import type { Started } from '../processes.js';
import { freePort } from './free-port.js';
import type { Subject, Surroundings } from './subject.js';

const COORDINATOR = repositoryFile('packages/coordinator/bin/gateway-coordinator.js');
const AGENT = repositoryFile('packages/agent/bin/gateway-agent.js');
const OWNER = 'bench@example.com';
const DATA = 'data';
/** High enough to refuse nothing; the checks themselves still run. */
const LIMITS = {
  GATEWAY_RATE_LIMIT_REQUESTS: '1000000',
  GATEWAY_MAX_CONCURRENT: '4096',
  GATEWAY_MAX_QUEUED: '1000000',
  // A tenth of it is one member's.
  GATEWAY_ASSETS_MAX_GB: '1000',
};

/** As packages and images start both programs. */
const LAUNCHED = { flags: ['--max-semi-space-size=4'], env: { MALLOC_ARENA_MAX: '1' } };

/** The slots of each service that the agent offers, all of them on the mock. */
export type GatewayServices = Readonly<
  Partial<Record<'llm' | 'stt' | 'image' | 'embedding', number>>
>;

export interface CoordinatorPlace {
  readonly nodeFlags: readonly string[];
  readonly data: string;
  readonly log: string;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface AgentPlace {
  readonly nodeFlags: readonly string[];
  readonly config: string;
  readonly log: string;
}

export async function startGateway(
  surroundings: Surroundings,
  services: GatewayServices,
  env: Readonly<Record<string, string>> = {},
): Promise<Subject> {
  const { mock, folder, nodeFlags } = surroundings;
  const data = join(folder, DATA);
  const config = join(folder, 'agent', 'config.json');
  mkdirSync(join(folder, 'agent'), { recursive: true });
  const log = join(folder, 'coordinator.log');
  const coordinator = await startCoordinator({ nodeFlags, data, log, env });
  const key = await setUp({ url: coordinator.ready, data, config });
  const statusPort = await freePort();
  configure(config, { services: servicesOn(mock, services), status_port: statusPort });
  const agent = await startAgent({ nodeFlags, config, log: join(folder, 'agent.log') });
  return {
    name: 'gateway',
    origin: coordinator.ready,
    headers: { authorization: `Bearer ${key}` },
    home: `http://127.0.0.1:${statusPort}`,
    pids: { coordinator: coordinator.pid, agent: agent.pid },
    isPeer: false,
  };
}

/** On a data folder, without online providers. */
export function startCoordinator(place: CoordinatorPlace): Promise<Started> {
  const { nodeFlags, data, log, env: further = {} } = place;
  const flags = [...LAUNCHED.flags, ...nodeFlags];
  const args = [...flags, COORDINATOR, 'start', '--data', data, '--port', '0'];
  const env = { ...LAUNCHED.env, ...LIMITS, ...further };
  return start({ args, ready: /listening on (http:\/\/\S+)/, env, log });
}

/** With a configuration that names the coordinator and has the agent's token beside it. */
export function startAgent({ nodeFlags, config, log }: AgentPlace): Promise<Started> {
  return start({
    args: [...LAUNCHED.flags, ...nodeFlags, AGENT, 'start', '--config', config],
    ready: /online as/,
    env: LAUNCHED.env,
    log,
  });
}

/** Jobs wait from now on; `resume` lets them run. */
export async function switchQueue(folder: string, verb: 'pause' | 'resume'): Promise<void> {
  await runToEnd([COORDINATOR, 'queue', verb, '--data', join(folder, DATA)]);
}

interface Paths {
  readonly url: string;
  readonly data: string;
  readonly config: string;
}

async function setUp({ url, data, config }: Paths): Promise<string> {
  const at = ['--data', data];
  await runToEnd([COORDINATOR, 'user', 'create', '--email', OWNER, '--name', 'bench', ...at]);
  const named = ['--user', OWNER, '--name', 'bench'];
  const key = await runToEnd([COORDINATOR, 'key', 'create', ...named, ...at]);
  const token = await runToEnd([COORDINATOR, 'token', 'create', '--owner', OWNER, ...at]);
  const enroll = [AGENT, 'enroll', '--url', url, '--token-file', '-', '--name', 'bench-pc'];
  await runToEnd([...enroll, '--config', config], token);
  return key;
}

/** As an agent's configuration names them. */
export function servicesOn(mock: string, services: GatewayServices): object[] {
  return Object.entries(services).map(([type, slots]) => ({
    type,
    backend: 'openai',
    base_url: `${mock}/v1`,
    slots,
    models: [{ id: BENCH_MODEL }],
  }));
}

function configure(config: string, added: object): void {
  const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
  writeFileSync(config, JSON.stringify({ ...settings, ...added }));
}
