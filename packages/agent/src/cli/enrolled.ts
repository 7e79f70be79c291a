import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { AgentConfig } from '../config.js';

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
