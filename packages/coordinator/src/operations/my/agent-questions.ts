/** Asks the agent of a provider something for its owner, and waits for what it says. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import type { AskOutcome, OwnerQuestion } from '../../core/routing/links.js';
import type { AdminContext } from '../operation.js';

export interface Answer {
  /** The first part, or the last one if there is only one. */
  readonly first: Promise<Reply>;
  readonly last: Promise<Reply>;
}

/** Throws a `CommandError` if the agent cannot be asked. `onReply` is called with each part. */
export function askAgent(
  { links }: Pick<AdminContext, 'links'>,
  { providerId, ...asked }: OwnerQuestion & { readonly providerId: string },
  onReply: (reply: Reply) => void = () => {},
): Answer {
  let tellFirst: ((reply: Reply) => void) | undefined;
  let tellLast: ((reply: Reply) => void) | undefined;
  const first = new Promise<Reply>((resolve) => (tellFirst = resolve));
  const last = new Promise<Reply>((resolve) => (tellLast = resolve));
  const outcome =
    links?.question(providerId, asked, (reply) => {
      // A part without a body only says that the agent is at it.
      if (reply.last || reply.body !== undefined) tellFirst?.(reply);
      if (reply.last) tellLast?.(reply);
      onReply(reply);
    }) ?? 'offline';
  if (outcome === 'asked') return { first, last };
  throw new NotAsked(outcome);
}

/** The agent cannot be asked. */
export class NotAsked extends CommandError {
  readonly outcome: Exclude<AskOutcome, 'asked'>;

  constructor(outcome: NotAsked['outcome']) {
    super(EXIT.conflict, NOT_ASKED[outcome]);
    this.outcome = outcome;
  }
}

const NOT_ASKED = {
  offline: 'the machine is offline: start its agent.',
  older: 'the agent on the machine is too old for this. Update it with "gateway-agent upgrade".',
  busy: 'the machine is asked too much. Wait a moment.',
} as const;
