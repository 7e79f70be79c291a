/**
 * The product as its users run it: the two programs, with authentication, limits, metering and logs
 * on.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryFile, runToEnd, start } from '../processes.js';
import type { Subject, Surroundings } from './subject.js';

const COORDINATOR = repositoryFile('packages/coordinator/bin/gateway-coordinator.js');
const AGENT = repositoryFile('packages/agent/bin/gateway-agent.js');
const OWNER = 'bench@example.com';
/** As many as a link carries, so that no request waits for a slot. */
const SLOTS = 1_024;
/** High enough to refuse nobody; the checks themselves run as ever. */
const LIMITS = { GATEWAY_RATE_LIMIT_REQUESTS: '1000000', GATEWAY_MAX_CONCURRENT: '4096' };

export async function startGateway(surroundings: Surroundings): Promise<Subject> {
  const { mock, folder, nodeFlags } = surroundings;
  const data = join(folder, 'data');
  const config = join(folder, 'agent', 'config.json');
  mkdirSync(join(folder, 'agent'), { recursive: true });
  const coordinator = await start({
    args: [...nodeFlags, COORDINATOR, 'start', '--data', data, '--port', '0'],
    ready: /listening on (http:\/\/\S+)/,
    env: LIMITS,
    log: join(folder, 'coordinator.log'),
  });
  const key = await setUp({ url: coordinator.ready, data, config });
  addService(config, mock);
  const agent = await start({
    args: [...nodeFlags, AGENT, 'start', '--config', config],
    ready: /online as/,
    log: join(folder, 'agent.log'),
  });
  return {
    name: 'gateway',
    origin: coordinator.ready,
    headers: { authorization: `Bearer ${key}` },
    pids: { coordinator: coordinator.pid, agent: agent.pid },
    isPeer: false,
  };
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

function addService(config: string, mock: string): void {
  const settings = JSON.parse(readFileSync(config, 'utf8')) as object;
  const service = { type: 'llm', backend: 'openai', base_url: `${mock}/v1`, slots: SLOTS };
  writeFileSync(config, JSON.stringify({ ...settings, services: [service] }));
}
