/** Requests of commands to the running agent. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readConfigFile } from '../config/file.js';
import { askAgent } from '../state/control.js';
import type { AgentConfig } from '../config/config.js';
import { enterConfig } from './options.js';

/** Throws with exit code 9 if no agent runs with this configuration. */
export async function askRunning(
  config: string | undefined,
  command: string,
  args: unknown = null,
): Promise<unknown> {
  const location = enterConfig(config);
  const answer = await askAgent(location.stateDir, command, { args });
  if (answer !== null) return answer.result;
  // If a named file is missing, that error comes first.
  await readConfigFile(location);
  throw notRunning(location.file);
}

export function notRunning(configFile: string): CommandError {
  return new CommandError(
    EXIT.checkFailed,
    `no agent runs on ${configFile}: start it with "gateway-agent start".`,
  );
}

/** The coordinator at which this agent is enrolled. */
export interface Coordinator {
  readonly url: string;
  readonly token: string;
}

/** Throws with exit code 4 if there is none. */
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
