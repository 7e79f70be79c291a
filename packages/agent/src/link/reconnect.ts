/** Keeps one link open: dials, waits for its end, waits a little, dials again. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import { linkFault } from './link-fault.js';
import { AgentLink } from './agent-link.js';
import type { LinkParts } from './agent-link.js';
import { Backoff } from './backoff.js';
import { dial } from './dial.js';
import type { LinkEnd } from './dial.js';
import { onWakeUp } from './wake-watch.js';

interface ConnectionOptions extends LinkParts {
  readonly url: string;
  readonly token: string;
  /** Do not dial again after a link has ended. */
  readonly once: boolean;
  readonly logger: Logger;
  /** The link has ended, or could not be opened. */
  readonly onLost: (reason: string) => void;
}

export class Connection {
  /**
   * Resolves when the connection has ended for good: with the reason, or null where it was closed
   * here.
   */
  readonly ended: Promise<CommandError | null>;
  readonly #options: ConnectionOptions;
  readonly #backoff = new Backoff();
  readonly #stopWatching: () => void;
  #link: AgentLink | null = null;
  #closing = false;
  #hurry: () => void = () => {};

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#stopWatching = onWakeUp(() => this.#wokeUp());
    this.ended = this.#keepOpen().finally(this.#stopWatching);
  }

  /** The link that is open now. */
  get link(): AgentLink | null {
    return this.#link;
  }

  /** Ends the connection for good. */
  close(code: number, reason: string): void {
    this.#closing = true;
    this.#link?.close(code, reason);
    this.#hurry();
  }

  async #keepOpen(): Promise<CommandError | null> {
    for (;;) {
      const startedAt = performance.now();
      const end = await this.#connectOnce();
      if (this.#closing) return null;
      this.#backoff.ended(performance.now() - startedAt);
      this.#options.onLost(describe(end));
      const fatal = fatalError(end) ?? (this.#options.once ? onceError(end) : null);
      if (fatal !== null) return fatal;
      const waitMs = this.#backoff.next(askedPause(end));
      const retryInMs = Math.round(waitMs);
      this.#options.logger.warn({ reason: describe(end), retryInMs }, 'not connected');
      await this.#pause(waitMs);
      if (this.#closing) return null;
    }
  }

  async #connectOnce(): Promise<LinkEnd> {
    const opened = await dial(this.#options.url, this.#options.token);
    if (opened.kind !== 'open') return opened;
    this.#link = new AgentLink(opened, this.#options);
    if (this.#closing) this.#link.close(CLOSE.normal, 'stopping');
    const end = await this.#link.ended;
    this.#link = null;
    return end;
  }

  async #pause(waitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The other end may have given the link up, or be found at another address by now. */
  #wokeUp(): void {
    this.#options.logger.info('the clock jumped: was this machine asleep?');
    void this.#link?.verify();
    this.#hurry();
  }
}

/** An owner who is disabled may be enabled again: until then, there is no hurry. */
const DISABLED_RETRY_MS = 300_000;

/** How long to stay away at least; null where nothing says so. */
function askedPause(end: LinkEnd): number | null {
  if (end.kind === 'unreachable') return null;
  return isDisabled(end) ? (end.retryAfterMs ?? DISABLED_RETRY_MS) : end.retryAfterMs;
}

function isDisabled(end: LinkEnd): boolean {
  if (end.kind === 'refused') return end.status === 403;
  return end.kind === 'closed' && end.code === CLOSE.disabled;
}

function describe(end: LinkEnd): string {
  if (isDisabled(end)) return 'its owner is disabled on the coordinator; ask the admin';
  switch (end.kind) {
    case 'unreachable':
      return end.reason;
    case 'refused':
      return linkFault(end.status, end.location);
    case 'closed':
      return `closed with ${end.code}${end.reason === '' ? '' : `: ${end.reason}`}`;
  }
}

/** What no waiting mends. */
function fatalError(end: LinkEnd): CommandError | null {
  if (end.kind === 'refused' && end.status === 401) return unauthorised();
  if (end.kind === 'refused' && end.status === 426) return incompatible();
  if (end.kind !== 'closed') return null;
  if (end.code === CLOSE.tokenRevoked) return unauthorised();
  if (end.code === CLOSE.version) return incompatible();
  if (end.code !== CLOSE.duplicateInstance) return null;
  return new CommandError(
    EXIT.conflict,
    'a second copy of this agent is running elsewhere. Stop one.',
  );
}

function unauthorised(): CommandError {
  const message =
    'the coordinator does not know this agent. Enroll it again with a new join token.';
  return new CommandError(EXIT.notAuthorised, message);
}

function incompatible(): CommandError {
  const message = 'this agent and the coordinator have no protocol version in common. Update both.';
  return new CommandError(EXIT.failure, message);
}

function onceError(end: LinkEnd): CommandError {
  const code = end.kind === 'closed' ? EXIT.failure : EXIT.coordinatorUnreachable;
  return new CommandError(code, `the link ended: ${describe(end)}.`);
}
