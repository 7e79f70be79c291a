/** Joins the parts of the agent; the command line and the tests start the same object. */
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { randomId } from '@inference-gateway/shared/ids';
import type { CommandError } from '@inference-gateway/shared/program/command-error';
import type { Logger } from '@inference-gateway/shared/program/logger';
import type { AgentHost } from '@inference-gateway/shared/protocol/messages';
import { CLOSE } from '@inference-gateway/shared/protocol/version';
import type { ServiceConfig } from './backends/backend.js';
import { Catalog } from './backends/catalog/catalog.js';
import { loadClient } from './backends/forward.js';
import type { ServiceStatus, TestedModel } from './backends/catalog/catalog.js';
import type { Wanted } from './backends/proving/find-subject.js';
import type { GameModeSettings } from './config/config.js';
import type { ModelSettings } from './config/model-settings.js';
import { Connection } from './link/reconnect.js';
import { cardReadings, gpuStatus } from './hardware/gpu-status.js';
import type { GpuWatch } from './hardware/gpu-sample.js';
import type { GpuStatus } from './hardware/gpu-status.js';
import { ServerProcesses } from './hardware/server-processes.js';
import type { AudioConverter } from './media/audio-converter.js';
import { ModelActions, NO_MANAGING } from './models/model-actions.js';
import type { MODEL_LIMITS } from './models/model-runs.js';
import { PulledModels } from './models/pulled-models.js';
import { DayFile } from './state/day-file.js';
import { PauseFile } from './state/pause-file.js';
import { ProofFile } from './state/proof-file.js';
import { PulledFile } from './state/pulled-file.js';
import { TodayFile } from './state/today-file.js';
import type { Sums } from './state/today-file.js';
import { Answers } from './work/answers.js';
import { MachineDay } from './work/day.js';
import { CardGuard, OwnerControl } from './work/owner-control.js';
import { HeldClaims } from './work/held-claims.js';
import { Ledger } from './work/ledger.js';
import type { OwnerReason } from './work/owner-control.js';
import type { Use } from './work/run-record.js';
import { WorkRunner } from './work/runner.js';
import type { Accepts } from './work/runner.js';
import { Spool } from './work/spool.js';
import { within } from './work/within.js';

export interface AgentOptions {
  /** The coordinator's public origin. */
  readonly url: string;
  readonly token: string;
  /** The enrolled name; the coordinator's answer overrides it. */
  readonly name: string | null;
  readonly services: readonly ServiceConfig[];
  /** The hardware as known at this moment. */
  readonly host: () => AgentHost;
  readonly logger: Logger;
  /** Do not connect again after a link has ended. */
  readonly once: boolean;
  /** Converts audio; null if ffmpeg is not installed. */
  readonly ffmpeg?: AudioConverter | null;
  /** Samples the graphics cards; null if there is no source. The caller closes it. */
  readonly gpu?: GpuWatch | null;
  /** When the owner counts as the card's user; null: never. */
  readonly gameMode?: GameModeSettings | null;
  /** When others may use this machine; null: always. */
  readonly hours?: DayHours | null;
  /**
   * Where finished answers and the owner's pause survive this process, which must hold the folder's
   * lock; null: they are lost when it ends.
   */
  readonly stateDir?: string | null;
  /** What the coordinator may do with models of local servers; absent: nothing. */
  readonly models?: ModelSettings;
  readonly modelLimits?: Partial<typeof MODEL_LIMITS>;
  /** Limit for all recorded answers together. */
  readonly spoolMaxBytes?: number;
  /** How long a stopping agent lets work finish. */
  readonly drainMs?: number;
  readonly clock?: Clock;
}

export interface AgentStatus {
  readonly name: string | null;
  readonly url: string;
  readonly connection: 'online' | 'connecting' | 'stopping';
  /** Unix ms. */
  readonly since: number;
  /** Why it is not online. */
  readonly reason: string | null;
  /** Number of running pieces of work. */
  readonly running: number;
  /** Whose work is accepted, and when a pause ends (Unix ms). */
  readonly accepts: Accepts;
  readonly pausedUntil: number | null;
  /** Why not all work is accepted. */
  readonly ownerReason: OwnerReason | null;
  readonly services: readonly ServiceStatus[];
  /** As far as the system reports them. */
  readonly gpus: readonly GpuStatus[];
  /** Since midnight. */
  readonly today: Sums;
  /** Size of answers that the coordinator has not confirmed. */
  readonly spoolBytes: number;
}

const DRAIN_MS = 30_000;
/** How long it then waits until the coordinator acknowledges the answers. */
const ACKNOWLEDGE_MS = 2_000;

export class Agent {
  /** Resolves when the agent has ended by itself, with the reason; null if it was drained. */
  readonly closed: Promise<CommandError | null>;
  readonly owner: OwnerControl;
  /** Who uses this machine, and how much. */
  readonly ledger: Ledger;
  readonly #options: AgentOptions;
  readonly #catalog: Catalog;
  readonly #claims: HeldClaims;
  readonly #day: MachineDay;
  readonly #runner: WorkRunner;
  readonly #pulled: PulledModels;
  readonly #models: ModelActions;
  readonly #card: CardGuard | null;
  readonly #now: () => number;
  #connection: Connection | null = null;
  #state: Pick<AgentStatus, 'connection' | 'since' | 'reason'>;
  #name: string | null;
  #close: (reason: CommandError | null) => void = () => {};

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#name = options.name;
    const { clock = SYSTEM_CLOCK } = options;
    const { now } = clock;
    this.#now = now;
    this.#state = { connection: 'connecting', since: now(), reason: null };
    const { services, logger, ffmpeg = null, stateDir = null } = options;
    const proving = {
      file: stateDir === null ? null : new ProofFile(stateDir),
      reserve: (serviceId: string) => this.#runner.reserve(serviceId),
    };
    this.#catalog = new Catalog(services, { now, logger, tools: { ffmpeg }, proving });
    this.#claims = new HeldClaims({ spool: newSpool(options, clock), now, logger });
    const claims = this.#claims;
    this.ledger = newLedger(options, clock);
    claims.onUnused = (claimId) => this.ledger.unused(claimId);
    const catalog = this.#catalog;
    this.#day = newDay(options, clock);
    const runner = new WorkRunner({
      catalog,
      claims,
      ledger: this.ledger,
      day: this.#day,
      now,
      logger,
    });
    this.#runner = runner;
    this.#pulled = newPulled(options, clock);
    this.#models = new ModelActions({
      settings: options.models ?? NO_MANAGING,
      catalog,
      pulled: this.#pulled,
      uses: () => this.uses(),
      now,
      logger,
      limits: options.modelLimits ?? {},
    });
    const file = stateDir === null ? null : new PauseFile(stateDir);
    this.#card = this.#newGuard();
    const card = { intruder: () => this.#card?.intruder ?? null, running: whatRuns(options) };
    const { hours = null } = options;
    const changed = (): void => this.#beat();
    this.owner = new OwnerControl({ runner, claims, file, hours, card, changed, now });
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  get name(): string | null {
    return this.#name;
  }

  /**
   * Resolves when the coordinator has registered the agent; rejects with a fault that no retry
   * mends.
   */
  async start(): Promise<void> {
    this.#catalog.onChange(() => this.announce());
    const parts = [this.#catalog.start(), this.#claims.restore(), this.owner.restore()];
    await Promise.all([loadClient(), this.#pulled.restore(), ...parts]);
    await Promise.all([this.ledger.today.restore(), this.#day.restore()]);
    const { url, token, host, logger, once, gpu = null } = this.#options;
    await new Promise<void>((registered, failed) => {
      this.#connection = new Connection({
        url,
        token,
        host,
        now: this.#now,
        logger,
        once,
        instanceId: randomId(),
        runner: this.#runner,
        claims: this.#claims,
        answers: new Answers(new Map([...this.#models.topics, ...this.#day.topics]), logger),
        services: () => this.#catalog.services(),
        cards: () => cardReadings(host(), gpu?.latest ?? null),
        onWelcome: ({ name }) => {
          this.#name = name;
          this.#enter('online', null);
          logger.info({ name, url }, 'connected');
          registered();
        },
        onLost: (reason) => this.#enter('connecting', reason),
      });
      void this.#connection.ended.then(async (reason) => {
        await this.#closeParts();
        this.#close(reason);
        if (reason !== null) failed(reason);
      });
    });
  }

  /** Tells the coordinator again what is served, and on what hardware. */
  announce(): void {
    this.#connection?.link?.announceServices();
  }

  status(): AgentStatus {
    return {
      name: this.#name,
      url: this.#options.url,
      ...this.#state,
      running: this.#runner.running,
      accepts: this.owner.accepts,
      pausedUntil: this.owner.pausedUntil,
      ownerReason: this.owner.reason,
      services: this.#catalog.status(),
      gpus: gpuStatus(this.#options.host().gpus, this.#options.gpu?.latest ?? null),
      today: this.ledger.today.total,
      spoolBytes: this.#claims.list().reduce((sum, { bytes }) => sum + bytes, 0),
    };
  }

  /** Every current run, and every answer that waits for confirmation. */
  uses(): Use[] {
    return this.ledger.now(this.#claims.list());
  }

  /** Asks one model a tiny question. Throws a `CommandError` if there is no such model. */
  test(wanted: Wanted): Promise<TestedModel> {
    return this.#catalog.test(wanted);
  }

  /**
   * Stops accepting work, lets running work finish, hands back the jobs that do not, and closes the
   * link. Answers that the coordinator has not acknowledged stay on disk for the next start.
   */
  async drain(): Promise<void> {
    this.#enter('stopping', null);
    this.owner.close();
    this.#runner.accepts = 'none';
    const { drainMs = DRAIN_MS } = this.#options;
    this.#connection?.link?.drain(drainMs);
    await within(drainMs, this.#runner.drained());
    this.#runner.stop('yielded', ({ kind }) => kind === 'job');
    await within(ACKNOWLEDGE_MS, this.#claims.emptied());
    if (this.#connection === null) return this.#closeParts();
    this.#connection.close(CLOSE.drained, 'drained');
    await this.closed;
    return undefined;
  }

  /** Ends runs whose answers will not be fetched; finished answers stay on disk. */
  async #closeParts(): Promise<void> {
    this.#card?.close();
    this.owner.close();
    this.#runner.stop('link lost', () => true);
    await this.#models.close();
    this.#catalog.close();
    await this.#runner.close();
    await this.#claims.close();
    await Promise.all([this.ledger.today.close(), this.#day.close()]);
  }

  /** Null if the card cannot be sampled, or its owner disabled this. */
  #newGuard(): CardGuard | null {
    const { gpu = null, gameMode: settings = null, services } = this.#options;
    if (gpu === null || settings?.enabled !== true) return null;
    const servers = new ServerProcesses({ baseUrls: services.map(({ baseUrl }) => baseUrl) });
    return new CardGuard({
      gpu,
      settings,
      strangers: (processes) => servers.strangers(processes),
      saw: (strangers) => this.#day.saw(strangers),
      idleSince: () => laterOf(this.#runner.idleSince, this.#catalog.idleSince),
      changed: () => this.owner.cardChanged(),
    });
  }

  #beat(): void {
    const { accepts, reason } = this.owner;
    this.#options.logger.info({ accepts, reason }, 'whose work is let in');
    this.#catalog.letProve(this.owner.accepts === 'all');
    this.#connection?.link?.beat();
  }

  #enter(connection: AgentStatus['connection'], reason: string | null): void {
    if (this.#state.connection === 'stopping') return;
    this.#state = { connection, since: this.#now(), reason };
  }
}

/** Null if one of them is null, i.e. still running. */
function laterOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : Math.max(one, other);
}

/** What happens to others' work when the card is taken. */
function whatRuns({ gameMode = null }: AgentOptions): GameModeSettings['running'] {
  return gameMode?.running ?? 'yield';
}

function newLedger({ stateDir = null, logger, gpu = null }: AgentOptions, clock: Clock): Ledger {
  const file = stateDir === null ? null : new TodayFile(stateDir);
  const ledger = new Ledger({ file, clock, logger });
  const latest = gpu?.latest ?? null;
  if (latest !== null) ledger.sampled(latest);
  gpu?.onSample((sample) => ledger.sampled(sample));
  return ledger;
}

function newDay({ stateDir = null, host, logger, gpu = null }: AgentOptions, clock: Clock) {
  const file = stateDir === null ? null : new DayFile(stateDir);
  const day = new MachineDay({ file, host, watches: gpu !== null, clock, logger });
  gpu?.onSample((sample) => day.sampled(sample));
  return day;
}

function newPulled({ stateDir = null, logger }: AgentOptions, { now }: Clock): PulledModels {
  const file = stateDir === null ? null : new PulledFile(stateDir);
  return new PulledModels({ file, now, logger });
}

function newSpool({ stateDir = null, spoolMaxBytes, logger }: AgentOptions, { now }: Clock): Spool {
  const folder = stateDir === null ? null : join(stateDir, 'spool');
  return new Spool({
    folder,
    now,
    logger,
    ...(spoolMaxBytes !== undefined && { maxBytes: spoolMaxBytes }),
  });
}
