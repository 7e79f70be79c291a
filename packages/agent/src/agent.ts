/** Joins the parts of the agent; the command line and the tests start the same object. */
import { randomId } from '@inference-gateway/shared/ids';
import type { CommandError } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { ServiceConfig } from './backends/backend.js';
import { Catalog } from './backends/catalog.js';
import type { ServiceStatus } from './backends/catalog.js';
import { Connection } from './connection/reconnect.js';
import type { AudioConverter } from './media/ffmpeg.js';
import { WorkRunner } from './work/runner.js';

export interface AgentOptions {
  /** The coordinator's public origin. */
  readonly url: string;
  readonly token: string;
  /** The name that was enrolled; the coordinator's word counts. */
  readonly name: string | null;
  readonly services: readonly ServiceConfig[];
  /** What is known of the hardware at this moment. */
  readonly host: () => AgentHost;
  readonly logger: Logger;
  /** Do not connect again after a link has ended. */
  readonly once: boolean;
  /** What converts audio; null where ffmpeg is not installed. */
  readonly ffmpeg?: AudioConverter | null;
}

export interface AgentStatus {
  readonly name: string | null;
  readonly url: string;
  readonly connection: 'online' | 'connecting' | 'stopping';
  /** Unix ms. */
  readonly since: number;
  /** Why it is not online. */
  readonly reason: string | null;
  /** Pieces of work under way. */
  readonly running: number;
  readonly services: readonly ServiceStatus[];
}

/** How long a stopping agent lets work finish. */
const DRAIN_MS = 30_000;

export class Agent {
  /** Resolves when the agent has ended by itself, with the reason; null where it was drained. */
  readonly closed: Promise<CommandError | null>;
  readonly #options: AgentOptions;
  readonly #catalog: Catalog;
  readonly #runner: WorkRunner;
  #connection: Connection | null = null;
  #state: Pick<AgentStatus, 'connection' | 'since' | 'reason'>;
  #name: string | null;
  #close: (reason: CommandError | null) => void = () => {};

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#name = options.name;
    this.#state = { connection: 'connecting', since: Date.now(), reason: null };
    const { services, logger, ffmpeg = null } = options;
    this.#catalog = new Catalog(services, { logger, tools: { ffmpeg } });
    this.#runner = new WorkRunner(this.#catalog, options.logger);
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  get name(): string | null {
    return this.#name;
  }

  /** Resolves when the coordinator has registered the agent; rejects with what no waiting mends. */
  async start(): Promise<void> {
    this.#catalog.onChange(() => this.announce());
    await this.#catalog.start();
    const { url, token, host, logger, once } = this.#options;
    await new Promise<void>((registered, failed) => {
      this.#connection = new Connection({
        url,
        token,
        host,
        logger,
        once,
        instanceId: randomId(),
        runner: this.#runner,
        services: () => this.#catalog.services(),
        onWelcome: ({ name }) => {
          this.#name = name;
          this.#enter('online', null);
          registered();
        },
        onLost: (reason) => this.#enter('connecting', reason),
      });
      void this.#connection.ended.then((reason) => {
        this.#catalog.close();
        this.#close(reason);
        if (reason !== null) failed(reason);
      });
    });
  }

  /** Tells the coordinator anew what is served, and on what hardware. */
  announce(): void {
    this.#connection?.link?.announceServices();
  }

  status(): AgentStatus {
    return {
      name: this.#name,
      url: this.#options.url,
      ...this.#state,
      running: this.#runner.running,
      services: this.#catalog.status(),
    };
  }

  /** Takes no new work, lets what runs finish, and leaves. */
  async drain(): Promise<void> {
    this.#enter('stopping', null);
    this.#runner.accepts = 'none';
    this.#connection?.link?.drain(DRAIN_MS);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, DRAIN_MS);
    });
    await Promise.race([this.#runner.drained(), patience]);
    clearTimeout(timer);
    this.#connection?.close(CLOSE.drained, 'drained');
    await this.#connection?.ended;
    this.#catalog.close();
  }

  #enter(connection: AgentStatus['connection'], reason: string | null): void {
    if (this.#state.connection === 'stopping') return;
    this.#state = { connection, since: Date.now(), reason };
  }
}
