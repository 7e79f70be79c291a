/** Runs the doctor's checks, in the order of their dependencies. */
import { isFit, checking, obstacle } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { checkCertificate } from '@inference-gateway/shared/program/certificate';
import { checkNode } from '@inference-gateway/shared/program/versions';
import type { AgentConfig } from '../config/config.js';
import { hasEnvironmentToken, proxyVariables } from '../config/config.js';
import { cardUse, checkFfmpeg, checkGpu } from './machine.js';
import { checkConfiguration, checkSpool, checkStateFolder, checkTokenFile } from './files.js';
import {
  checkClock,
  checkReachable,
  linkOfRunning,
  tryLink,
  checkDns,
  checkProxy,
} from './coordinator.js';
import type { LinkChecks } from './coordinator.js';
import { checkLocalServers, withOwnServers } from './local-servers.js';
import type { Patient, RunningAgent } from './patient.js';

export async function examine(patient: Patient): Promise<Check[]> {
  const { location, running } = patient;
  const { check: configuration, config } = await checkConfiguration(location);
  const token = await checkTokenFile(location, hasEnvironmentToken());
  return [
    checkNode(process.versions.node),
    configuration,
    token,
    await checkStateFolder(location, running),
    ...(await examineWay({ configuration, token, config, running })),
    ...(await examineServers(patient, config)),
    await checkGpu(),
    await checkFfmpeg({ configured: config?.ffmpeg ?? null, isNeeded: hasSounds(config) }),
    await checkSpool(location, running),
  ];
}

interface Way {
  readonly configuration: Check;
  readonly token: Check;
  readonly config: AgentConfig | null;
  readonly running: RunningAgent | null;
}

/** From here to the coordinator; checks after a failed one are skipped. */
async function examineWay({ configuration, token, config, running }: Way): Promise<Check[]> {
  const url = config?.url ?? null;
  if (config === null || url === null) {
    return WAY.map((name) => checking(name).skip(obstacle(configuration) ?? 'no coordinator'));
  }
  const dns = await checkDns(url);
  const tls = await unless(checking('tls'), [dns], () =>
    checkCertificate(url, { renew: RENEW, trust: TRUST }),
  );
  const { check: reachable, clockLeadMs } = isFit(dns)
    ? await checkReachable(url)
    : { check: checking('coordinator').skip(obstacle(dns) ?? ''), clockLeadMs: null };
  const clock = await unless(checking('clock'), [reachable], () => checkClock(clockLeadMs));
  const { upgrade, auth } = await examineLink({ url, running, reachable, token, config });
  return [dns, tls, checkProxy(proxyVariables(), url), reachable, upgrade, auth, clock];
}

const WAY = ['dns', 'tls', 'proxy', 'coordinator', 'websocket upgrade', 'authorisation', 'clock'];

const RENEW =
  "The admin of the coordinator renews its certificate; if this machine's clock is wrong, set " +
  'that. Look there with: gateway-coordinator doctor';
const TRUST =
  'If it is meant so, because only your network knows it, it is trusted with: ' +
  'NODE_EXTRA_CA_CERTS=<file of the authority> gateway-agent start';

interface LinkNeeds {
  readonly url: string;
  readonly running: RunningAgent | null;
  readonly reachable: Check;
  readonly token: Check;
  readonly config: AgentConfig;
}

async function examineLink(needs: LinkNeeds): Promise<LinkChecks> {
  const { url, running, reachable, config, token } = needs;
  if (running !== null) return linkOfRunning(running);
  const why = obstacle(reachable) ?? (config.token === null ? obstacle(token) : null);
  if (why === null && config.token !== null) return tryLink(url, config.token);
  const skipped = why ?? 'there is no token';
  return {
    upgrade: checking('websocket upgrade').skip(skipped),
    auth: checking('authorisation').skip(skipped),
  };
}

async function unless(
  told: ReturnType<typeof checking>,
  needed: readonly Check[],
  check: () => Check | Promise<Check>,
): Promise<Check> {
  const why = obstacle(...needed);
  return why === null ? check() : told.skip(why);
}

async function examineServers(
  { running, test }: Patient,
  config: AgentConfig | null,
): Promise<Check[]> {
  if (running !== null) {
    return checkLocalServers({ services: running.services, busy: busyWith(running), test });
  }
  if (config === null)
    return [checking('local servers').skip('needs "configuration", which failed')];
  if (config.services.length === 0) return [checking('local servers').skip('none is configured')];
  const busy = await cardUse(config.gameMode);
  return withOwnServers(config, (servers) => checkLocalServers({ ...servers, busy }));
}

/** A test call must not make a caller wait, or take the card from its owner. */
function busyWith({ streams, accepts }: RunningAgent): string | null {
  if (streams > 0) return `the agent is at work (requests under way: ${streams})`;
  return accepts === 'all' ? null : "the agent does not let in everybody's work now";
}

function hasSounds(config: AgentConfig | null): boolean {
  return config?.services.some(({ type }) => type === 'stt' || type === 'tts') ?? false;
}
