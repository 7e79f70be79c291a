/** What commands ask of the running agent, which must run. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readConfigFile } from '../config/file.js';
import { askAgent } from '../state/control.js';
import type { AgentConfig } from '../config/config.js';
import { enterConfig } from './options.js';

/** Throws with exit code 9 where no agent runs on this configuration. */
export async function askRunning(
  config: string | undefined,
  command: string,
  args: unknown = null,
): Promise<unknown> {
  const location = enterConfig(config);
  const answer = await askAgent(location.stateDir, command, args);
  if (answer !== null) return answer.result;
  // A named file that is missing is the better reason.
  await readConfigFile(location);
  throw notRunning(location.file);
}

export function notRunning(configFile: string): CommandError {
  return new CommandError(
    EXIT.checkFailed,
    `no agent runs on ${configFile}: start it with "gateway-agent start".`,
  );
}

/** The coordinator of an agent that is enrolled there. */
export interface Coordinator {
  readonly url: string;
  readonly token: string;
}

/** Throws with exit code 4 where there is none. */
export function requireEnrolled({
  url,
  token,
  location,
}: Pick<AgentConfig, 'url' | 'token' | 'location'>): Coordinator {
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
