/** A machine of the demo: an agent that connects to the coordinator over its own link. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { GPUS_DAY } from '@inference-gateway/shared/protocol/gpu-asks';
import { dial } from '@inference-gateway/shared/protocol/dial';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import { AgentEnd } from '@inference-gateway/shared/protocol/link';
import type { AgentEndStream, LinkedAgent } from '@inference-gateway/shared/protocol/link';
import type { CardReading, Message } from '@inference-gateway/shared/protocol/messages';
import { WebSocket } from 'ws';
import { programVersion } from '../../own-files.js';
import { Random, seedOf } from '../random.js';
import type { SceneMachine } from '../scene.js';
import { hostOf, joulesOf, servicesOf } from '../machines.js';
import type { Machine } from '../machines.js';
import { demoDay } from './demo-day.js';
import { DemoLibrary } from './demo-library.js';
import { DemoStream } from './demo-stream.js';

/** Delay before the next link after one has ended, for instance by an administrator. */
const REDIAL_MS = 3_000;

const UNKNOWN_TOKEN = 401;

export class DemoAgent implements LinkedAgent {
  readonly version = programVersion();
  readonly instanceId = randomId();
  readonly #origin: string;
  readonly #scene: SceneMachine;
  readonly #random: Random;
  readonly #running = new Set<DemoStream>();
  readonly #library: DemoLibrary;
  /** Of the open link. */
  #end: AgentEnd | null = null;
  #cancel: () => void = () => {};
  #redial: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** Connects at once; `origin` is the coordinator's. */
  constructor(origin: string, scene: SceneMachine) {
    this.#origin = origin;
    this.#scene = scene;
    this.#random = new Random(seedOf(scene.machine.name));
    this.#library = new DemoLibrary({
      machine: scene.machine,
      runningOn: (model) => [...this.#running].filter(({ open }) => open.model === model).length,
      onChange: () => this.#end?.announceServices(),
    });
    void this.#link();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#redial);
    this.#cancel();
  }

  served(): Pick<Message<'HELLO'>, 'services' | 'host'> {
    const { machine } = this.#scene;
    return { services: this.#library.services(), host: hostOf(machine) };
  }

  /** Resumes nothing from earlier links: the coordinator runs that work again elsewhere. */
  offers(): Message<'HELLO'>['resume'] {
    return [];
  }

  /** Renews the leases of its jobs, and says whether it accepts more. */
  heartbeat(): Omit<Message<'HEARTBEAT'>, 't' | 'seq'> {
    const { machine } = this.#scene;
    const running = [...this.#running].map(({ open }) => open);
    const slots = servicesOf(machine).map(({ service_id: id, slots: all }) => {
      const busy = running.filter((open) => open.service_id === id).length;
      return { service_id: id, busy, free: Math.max(0, all - busy) };
    });
    const claims = running.flatMap(({ claim_id: id }) =>
      id === undefined ? [] : [{ claim_id: id, phase: 'running' as const }],
    );
    const accepts = machine.state === 'paused' ? 'none' : 'all';
    const services = new Set(running.map((open) => open.service_id));
    return { slots, claims, accepts, gpus: cardReadings(machine, services, this.#random) };
  }

  welcomed(_: Message<'WELCOME'>, end: AgentEnd): void {
    this.#end = end;
    end.beat();
  }

  asked(ask: Message<'ASK'>, reply: (reply: Reply) => void): void {
    if (ask.topic !== GPUS_DAY) return this.#library.asked(ask, reply);
    const parts = demoDay(this.#scene.machine, SYSTEM_CLOCK.now());
    for (const body of parts) reply({ last: body === parts.at(-1), body });
    return undefined;
  }

  opened(open: Message<'OPEN'>, stream: AgentEndStream): DemoStream {
    const { tokensPerSecond } = this.#scene.machine;
    const pace = { random: this.#random, tokensPerSecond };
    const startedAt = SYSTEM_CLOCK.steady();
    const work = new DemoStream(stream, {
      open,
      pace,
      joules: () => {
        const ms = SYSTEM_CLOCK.steady() - startedAt;
        return joulesOf(this.#scene.machine, ms, this.#running.size);
      },
      ended: (one) => this.#running.delete(one),
    });
    if (stream.isOpen) this.#running.add(work);
    return work;
  }

  /** Nothing to delete: it keeps no answers. */
  acknowledged(): void {}

  /** These jobs were canceled, or another machine has them now. */
  lost(claimIds: readonly string[]): void {
    for (const work of this.#running) {
      if (claimIds.includes(work.open.claim_id ?? '')) work.cancel();
    }
  }

  /** Opens a link, waits for its end, and schedules the next one. */
  async #link(): Promise<void> {
    const { dialed, cancel } = dial(WebSocket, { origin: this.#origin, token: this.#scene.token });
    this.#cancel = cancel;
    const opened = await dialed;
    // The machine was removed, so its token is no longer valid.
    if (opened.kind === 'refused' && opened.status === UNKNOWN_TOKEN) return;
    if (opened.kind === 'open') await new AgentEnd(opened, this).ended;
    this.#end = null;
    if (this.#isStopped) return;
    this.#redial = setTimeout(() => void this.#link(), REDIAL_MS);
  }
}

// Invented telemetry of a demo machine's GPUs while it runs work.

/** `running`: ids of the busy services. */
export function cardReadings(
  machine: Machine,
  running: ReadonlySet<string>,
  random: Random,
): CardReading[] {
  const busy = servicesOf(machine).filter(({ service_id: id }) => running.has(id));
  return machine.gpus.map((gpu, index) => {
    // A service without a group runs on all cards.
    const isBusy = busy.some(({ slot_group: group = `gpu${index}` }) => group === `gpu${index}`);
    const { vramGib } = gpu;
    const figure = (low: number, high: number): number => Math.round(random.between(low, high));
    const shared = {
      use_percent: isBusy ? figure(76, 98) : figure(0, 3),
      memory_used_mib: Math.round((vramGib ?? SHARED_GIB) * MIB_A_GIB * random.between(0.7, 0.74)),
    };
    // Apple's driver does not report more.
    if (vramGib === null) return { ...shared, temperature_c: null, power_watts: null };
    const temperature_c = isBusy ? figure(62, 71) : figure(36, 41);
    return { ...shared, temperature_c, power_watts: isBusy ? figure(240, 285) : figure(17, 26) };
  });
}

const MIB_A_GIB = 1_024;

/** Memory that the models take if the GPU uses the machine's main memory. */
const SHARED_GIB = 14;
