/** The demo's machines: owners, hardware, services and shares. */
import type { AdvertisedService, AgentHost } from '@inference-gateway/shared/protocol/messages';
import type { MemberName } from './cast.js';
import { advertised, typeOf } from './models.js';
import type { ModelId } from './models.js';

interface DemoService {
  readonly models: readonly [ModelId, ...ModelId[]];
  readonly slots: number;
  /** Services with the same card share its slots. */
  readonly card?: string;
  /** Its server loads, pulls and deletes models, as Ollama does. */
  readonly hasLibrary?: true;
}

interface DemoShare {
  readonly network: string;
  /** Null: the whole machine. */
  readonly model: ModelId | null;
  /** Parallel requests; null: no limit. */
  readonly slots: number | null;
}

export interface Machine {
  readonly name: string;
  readonly owner: MemberName;
  /** `paused`: the agent is connected and accepts no work. `offline`: last seen an hour ago. */
  readonly state: 'online' | 'paused' | 'offline';
  readonly os: string;
  readonly arch: string;
  readonly gpus: readonly Gpu[];
  readonly services: readonly DemoService[];
  readonly shares: readonly DemoShare[];
  /** Speed of its fastest chat model. */
  readonly tokensPerSecond: number;
  readonly enrolledDaysAgo: number;
}

interface Gpu {
  readonly name: string;
  readonly vendor: string;
  /** Null if the card uses the machine's main memory. */
  readonly vramGib: number | null;
  readonly driver: string | null;
}

/** The usual share: members of the network may use the whole machine. */
const ALL_WITH_FRIENDS: DemoShare = { network: 'friends', model: null, slots: null };

function nvidia(name: string, vramGib: number): Gpu {
  return { name: `NVIDIA ${name}`, vendor: 'NVIDIA', vramGib, driver: '570.133.07' };
}

export const MACHINES: readonly Machine[] = [
  {
    name: 'gaming-pc',
    owner: 'Anna',
    state: 'online',
    os: 'win32',
    arch: 'x64',
    gpus: [nvidia('GeForce RTX 4090', 24)],
    services: [
      {
        models: ['llama-3.1-8b-instruct', 'qwen2.5-coder-32b-instruct'],
        slots: 2,
        card: 'gpu0',
        hasLibrary: true,
      },
      { models: ['flux.1-schnell'], slots: 1, card: 'gpu0' },
    ],
    shares: [ALL_WITH_FRIENDS],
    tokensPerSecond: 84,
    enrolledDaysAgo: 41,
  },
  {
    name: 'mac-mini',
    owner: 'Ben',
    state: 'online',
    os: 'darwin',
    arch: 'arm64',
    gpus: [{ name: 'Apple M4 Pro', vendor: 'Apple', vramGib: null, driver: null }],
    services: [
      { models: ['gemma-3-12b-it'], slots: 2, hasLibrary: true },
      { models: ['kokoro-82m'], slots: 2 },
      { models: ['whisper-large-v3-turbo'], slots: 1 },
    ],
    shares: [ALL_WITH_FRIENDS],
    tokensPerSecond: 38,
    enrolledDaysAgo: 38,
  },
  {
    name: 'workstation',
    owner: 'Chiara',
    state: 'online',
    os: 'linux',
    arch: 'x64',
    gpus: [nvidia('RTX A6000', 48), nvidia('RTX A6000', 48)],
    services: [
      {
        models: ['llama-3.3-70b-instruct', 'deepseek-r1-distill-qwen-32b'],
        slots: 4,
        hasLibrary: true,
      },
      { models: ['stable-diffusion-xl-base-1.0'], slots: 1, card: 'gpu1' },
      { models: ['ace-step-v1-3.5b'], slots: 1, card: 'gpu1' },
    ],
    shares: [
      { network: 'friends', model: 'llama-3.3-70b-instruct', slots: 2 },
      { network: 'friends', model: 'deepseek-r1-distill-qwen-32b', slots: 2 },
      { network: 'film-club', model: null, slots: null },
    ],
    tokensPerSecond: 27,
    enrolledDaysAgo: 33,
  },
  {
    name: 'living-room',
    owner: 'Dov',
    state: 'offline',
    os: 'linux',
    arch: 'x64',
    gpus: [nvidia('GeForce RTX 3060', 12)],
    services: [{ models: ['mistral-small-24b-instruct'], slots: 1, hasLibrary: true }],
    shares: [ALL_WITH_FRIENDS],
    tokensPerSecond: 19,
    enrolledDaysAgo: 32,
  },
  {
    name: 'attic',
    owner: 'Emi',
    state: 'paused',
    os: 'linux',
    arch: 'x64',
    gpus: [nvidia('GeForce RTX 4070 Ti', 12)],
    services: [
      { models: ['qwen3-14b'], slots: 2, card: 'gpu0', hasLibrary: true },
      { models: ['whisper-large-v3-turbo'], slots: 1, card: 'gpu0' },
    ],
    shares: [{ network: 'friends', model: 'qwen3-14b', slots: 1 }],
    tokensPerSecond: 46,
    enrolledDaysAgo: 31,
  },
];

/** Hours of the day, in UTC, in which a machine is off. */
const OFF_HOURS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  'gaming-pc': [2, 7],
};

export function isOffAt({ name }: Machine, at: number): boolean {
  const [from, to] = OFF_HOURS[name] ?? [0, 0];
  const hour = new Date(at).getUTCHours();
  return hour >= from && hour < to;
}

export function hostOf({ os, arch, gpus }: Machine): AgentHost {
  const shown = gpus.map(({ name, vendor, vramGib, driver }) => {
    return { name, vendor, vram_mib: vramGib === null ? null : vramGib * 1_024, driver };
  });
  return { os, arch, gpus: shown };
}

export function servicesOf({ services }: Machine): AdvertisedService[] {
  return services.map(({ models, slots, card }) => ({
    service_id: serviceIdOf(models[0]),
    service_type: typeOf(models[0]),
    slots,
    models: models.map(advertised),
    ...(card !== undefined && { slot_group: card }),
  }));
}

/** What a demo machine's card takes while it works, as the readings that are invented for it. */
const BUSY_WATTS = 260;

/**
 * Joules of a run, its share if others ran beside it. Null as from a real agent: Apple reports no
 * power, and which of several cards ran it is not known.
 */
export function joulesOf({ gpus }: Machine, ms: number, runs = 1): number | null {
  if (gpus.length !== 1 || gpus[0]?.vramGib === null) return null;
  return Number(((BUSY_WATTS * ms) / 1_000 / runs).toPrecision(2));
}

/** The ids of its services that have a library. */
export function librariesOf({ services }: Machine): string[] {
  return services
    .filter(({ hasLibrary }) => hasLibrary === true)
    .map(({ models }) => serviceIdOf(models[0]));
}

/** The service whose first model this is. */
function serviceIdOf(model: ModelId): string {
  return `${typeOf(model)}-${model.split('-', 1)[0] ?? model}`;
}

/** A machine and service that serve the model; online machines first. */
export function placeOf(model: ModelId): {
  readonly machine: Machine;
  readonly serviceId: string;
} {
  for (const machine of MACHINES) {
    const service = machine.services.find(({ models }) => models.includes(model));
    if (service !== undefined) return { machine, serviceId: serviceIdOf(service.models[0]) };
  }
  throw new Error(`no machine of the demo has ${model}`);
}
