import { CommandError } from '@inference-gateway/shared/program/command-error';
import { checking } from '@inference-gateway/shared/program/check';
import type { Check } from '@inference-gateway/shared/program/check';
import { loadConfig } from '../config.js';
import type { AgentConfig } from '../config.js';
import type { ConfigLocation } from '../config-location.js';
import { configFlag } from './patient.js';

export interface ExaminedConfig {
  readonly check: Check;
  /** Null where it cannot be used. */
  readonly config: AgentConfig | null;
}

/** All that is wrong with it at once. */
export async function checkConfiguration(location: ConfigLocation): Promise<ExaminedConfig> {
  const { fail } = checking('configuration');
  try {
    const config = await loadConfig(location);
    return { check: judge(config), config };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const again = `gateway-agent doctor${configFlag(location)}`;
    const check = fail(error.message, `Correct ${location.file}, and look again with: ${again}`);
    return { check, config: null };
  }
}

function judge({ url, services, location }: AgentConfig): Check {
  const { pass, warn, fail } = checking('configuration');
  const flag = configFlag(location);
  if (url === null) {
    const advice = `Join one with: gateway-agent login${flag} --url <coordinator>`;
    return fail(`${location.file} names no coordinator`, advice);
  }
  const count = services.length === 1 ? '1 service' : `${services.length} services`;
  const found = `${location.file}, ${count}`;
  if (services.length > 0) return pass(found);
  return warn(found, `Look for model servers with: gateway-agent services scan --add${flag}`);
}
