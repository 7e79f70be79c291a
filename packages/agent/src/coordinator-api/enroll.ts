/** Trades a join token for this agent's own token: one HTTPS request to the coordinator. */
import { arch, platform } from 'node:os';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { ENROLL_PATH } from '@inference-gateway/shared/protocol/version';
import { AGENT_VERSION } from '../agent-version.js';
import { callCoordinator, refused } from './coordinator-call.js';
import { readEnrolment } from './enrolment.js';
import type { Enrolment } from './enrolment.js';

export interface EnrolmentRequest {
  /** The coordinator, without a trailing slash. */
  readonly url: string;
  /** Single use: a second enrolment needs another. */
  readonly joinToken: string;
  /** Null: the coordinator chooses one. */
  readonly name: string | null;
}

/**
 * Throws a `CommandError` that tells a refused token, a taken name and an unreachable coordinator
 * apart.
 */
export async function enroll({ url, joinToken, name }: EnrolmentRequest): Promise<Enrolment> {
  refuseOtherSecrets(joinToken);
  const body = { name, os: platform(), arch: arch(), agent_version: AGENT_VERSION };
  const answer = await callCoordinator({ url, path: ENROLL_PATH, body, token: joinToken });
  const asked = { url, what: 'enrolment', conflict: `the name ${name ?? ''} is taken` };
  if (answer.status !== 200) throw refused(answer, asked);
  return readEnrolment(answer, asked);
}

/**
 * An API key pasted by mistake would open the gateway to whoever answers at that URL: it stays
 * here.
 */
function refuseOtherSecrets(token: string): void {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    // What PowerShell writes with `>` is UTF-16.
    const message =
      'a join token is one word (gwj_…), and this is something else: ' +
      'keep the token alone in the file, as plain text in UTF-8.';
    throw new CommandError(EXIT.usage, message);
  }
  if (!/^gw[ka]_/.test(token)) return;
  const kind = token.startsWith('gwk_') ? 'an API key (gwk_…)' : "an agent's token (gwa_…)";
  throw new CommandError(
    EXIT.notAuthorised,
    `this is ${kind}, not a join token (gwj_…): ` +
      'have one made with "gateway-coordinator token create".',
  );
}
