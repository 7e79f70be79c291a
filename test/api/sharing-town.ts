/** The town of `sharing-world.ts`, live: a gateway, its members, and their agents. */
import type { AdminArgs } from '@inference-gateway/coordinator/operations/operations';
import { onEachOpen } from '../support/job-agent.js';
import type { Open } from '../support/job-agent.js';
import { picture } from '../support/pictures.js';
import { connectRawAgent, DOCUMENT, HELLO } from '../support/raw-agent.js';
import type { RawAgent } from '../support/raw-agent.js';
import { tone } from '../support/sound.js';
import { openCircle } from './sharing-stage.js';
import type { Circle, Friend } from './sharing-stage.js';
import {
  FOUNDERS,
  MEMBERS,
  NETWORKS,
  OWNERS,
  PROVIDERS,
  TOWN_MODELS,
  World,
} from './sharing-world.js';
import type { Action, Member, ProviderName, TownModel } from './sharing-world.js';

type Service = (typeof HELLO)['services'][number];

/** More than all members can use at the same time, so no call waits. */
const SLOTS = 256;
export const VOICE = 'opal-singer';
const SPEECH = tone(0.1);
const PICTURE = picture();

export class Town {
  readonly world = new World();
  readonly friends = new Map<Member, Friend>();
  /** Work that reached an agent although it must not. */
  readonly trespasses: string[] = [];
  readonly #circle: Circle;
  readonly #tokens = new Map<ProviderName, string>();
  readonly #agents = new Map<ProviderName, RawAgent>();

  constructor(circle: Circle) {
    this.#circle = circle;
  }

  async open(): Promise<this> {
    const { anna, ben, gateway } = this.#circle;
    for (const name of MEMBERS) {
      const known = { Anna: anna, Ben: ben }[name as string];
      this.friends.set(name, known ?? (await this.#circle.newcomer(name)));
    }
    for (const name of NETWORKS) {
      await gateway.admin('network.create', { name, owner: FOUNDERS[name] });
    }
    for (const provider of PROVIDERS) {
      this.#tokens.set(provider, await this.friendOf(OWNERS[provider]).enroll(provider));
      await this.#connect(provider);
    }
    return this;
  }

  friendOf(member: Member): Friend {
    const friend = this.friends.get(member);
    if (friend === undefined) throw new Error(`${member} is not here yet`);
    return friend;
  }

  /** Applies the action to the world and to the gateway, if it changes anything. */
  async act(action: Action): Promise<void> {
    if (!this.world.apply(action)) return;
    await this.#administer(action);
    if (action.kind !== 'disable' && action.kind !== 'enable') return;
    for (const provider of PROVIDERS.filter((one) => OWNERS[one] === action.member)) {
      // The agent of a re-enabled member reconnects.
      if (action.kind === 'enable') await this.#connect(provider);
      else await this.#agents.get(provider)?.closed();
    }
  }

  close(): Promise<void> {
    return this.#circle.gateway.stop();
  }

  async #administer(action: Action): Promise<unknown> {
    const { gateway } = this.#circle;
    switch (action.kind) {
      case 'share': {
        const { kind: _, ...share } = action;
        return this.#circle.share(share);
      }
      case 'unshare':
        return this.#circle.unshare(action.provider);
      case 'approve':
      case 'drain':
      case 'resume':
        return gateway.admin(`provider.${action.kind}`, { provider: action.provider });
      case 'join':
      case 'leave': {
        const { kind, ...membership } = action;
        return gateway.admin(kind === 'join' ? 'network.add' : 'network.remove', membership);
      }
      case 'block':
      case 'unblock': {
        const { kind, ...pair } = action;
        return gateway.admin(`provider.${kind}`, pair);
      }
      case 'disable':
      case 'enable': {
        const args: AdminArgs<'user.disable'> = { member: action.member };
        return gateway.admin(`user.${action.kind}`, args);
      }
    }
  }

  async #connect(provider: ProviderName): Promise<void> {
    const { address } = this.#circle.gateway;
    const services = servicesOf(provider);
    const hello = { services, instance_id: provider };
    const agent = await connectRawAgent(address, this.#tokens.get(provider) ?? '', hello);
    this.#agents.set(provider, agent);
    onEachOpen(agent, (open) => this.#serve(provider, agent, open));
  }

  /** Nothing changes while work is in progress, so the world's current state decides. */
  #serve(provider: ProviderName, agent: RawAgent, open: Open): void {
    const { name, own } = open.caller;
    const caller = MEMBERS.find((member) => member === name);
    const model = TOWN_MODELS.find(({ id }) => id === open.model);
    const isRight =
      caller !== undefined &&
      model?.provider === provider &&
      this.world.serves(caller, model) &&
      own === (OWNERS[provider] === caller);
    if (!isRight) this.trespasses.push(`${name} (own: ${own}) at ${provider}: ${open.model}`);
    void answer(agent, open, model);
  }
}

/** A town in which every provider waits for approval. */
export async function openTown(): Promise<Town> {
  // With shorter leases the coordinator checks the queue more often.
  return new Town(await openCircle({ providerApproval: true, jobLeaseMs: 3_000 })).open();
}

async function answer(agent: RawAgent, { stream }: Open, model: TownModel | undefined) {
  if (model?.type === 'tts') {
    return agent.media(stream, [{ bytes: SPEECH, contentType: 'audio/wav' }]);
  }
  if (model?.type === 'image') {
    return agent.media(stream, [{ bytes: PICTURE, contentType: 'image/png' }]);
  }
  return agent.answer(stream, model?.type === 'stt' ? { text: 'Hello' } : DOCUMENT);
}

function servicesOf(provider: ProviderName): Service[] {
  const models = TOWN_MODELS.filter((model) => model.provider === provider);
  const ids = [...new Set(models.map(({ service }) => service))];
  return ids.map((id): Service => {
    const served = models.filter(({ service }) => service === id);
    const { type = 'llm', foreign = true } = served[0] ?? {};
    return {
      service_id: id,
      service_type: type,
      slots: SLOTS,
      ...(!foreign && { foreign }),
      models: served.map(advertise),
    };
  });
}

function advertise({ id, type }: TownModel): Service['models'][number] {
  return {
    id,
    served_name: id,
    context_length: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    loaded: true,
    ...(type === 'tts' && { voices: [VOICE] }),
  };
}
