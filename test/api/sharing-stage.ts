/** Members of one gateway, their machines, and what they share with each other. */
import type { ServiceConfig } from '@inference-gateway/agent/backends/backend';
import type { AdminArgs } from '@inference-gateway/coordinator/operations/operations';
import type { Config } from '@inference-gateway/coordinator/config/config';
import { onTestFinished } from 'vitest';
import { answer } from '../support/fake-behaviours.js';
import type { Behaviour, FakeModelServer } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestAgent, TestGateway } from '../support/gateway.js';
import type { Caller } from './requests.js';

/** A member who calls with their own key. */
export interface Friend extends Caller {
  /** The public name. */
  readonly name: string;
  readonly key: string;
  readonly enroll: (name: string) => Promise<string>;
}

export interface Home {
  readonly fake: FakeModelServer;
  readonly agent: TestAgent;
}

interface HomeOptions {
  /** `den-pc` by default. */
  readonly name?: string;
  /** Of the only service; `['tiny']` by default. */
  readonly models?: readonly string[];
  /** In place of one `llm` service; each uses the fake server. */
  readonly services?: readonly Partial<ServiceConfig>[];
  /** Slots of the only service. */
  readonly slots?: number;
  readonly foreign?: boolean;
  readonly behaviour?: Behaviour;
  readonly routes?: Readonly<Record<string, unknown>>;
}

/** The name of Anna's network. */
export const CLUB = 'club';

export class Circle {
  readonly gateway: TestGateway;
  readonly anna: Friend;
  readonly ben: Friend;

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
    this.anna = friendOf(gateway, 'Anna', gateway.anna);
    this.ben = friendOf(gateway, 'Ben', gateway.ben);
  }

  /** A new member, without networks. */
  async newcomer(name: string): Promise<Friend> {
    const email = `${name.toLowerCase()}@example.org`;
    await this.gateway.admin('user.create', { email, name, admin: false, password: null });
    const { key } = await this.keyOf(name, 'any');
    return friendOf(this.gateway, name, { key, enroll: (pc) => this.#enroll(name, pc) });
  }

  /** Creates another key of the member's. */
  async keyOf(member: string, scope: 'own' | 'any'): Promise<{ readonly key: string }> {
    const args = { user: member, name: `key-${scope}`, scope, expires_in_s: null };
    return this.gateway.admin('key.create', args);
  }

  /** An online machine with a local server. */
  async home(owner: Friend, options: HomeOptions = {}): Promise<Home> {
    const { name = 'den-pc', models = ['tiny'], slots = 4, foreign = true } = options;
    const { behaviour = answer({ text: `Hello from ${name}.` }), routes = {} } = options;
    const fake = await startFakeOpenAi({ models, behaviour, routes });
    onTestFinished(() => fake.close());
    const services = (options.services ?? [{ slots, foreign }]).map((service) => ({
      baseUrl: fake.baseUrl,
      ...service,
    }));
    const member = { ...owner, id: '', email: '', keyId: '' };
    return { fake, agent: await this.gateway.startAgent({ name, owner: member, services }) };
  }

  /** Creates Anna's network with these members. */
  async found(...members: readonly Friend[]): Promise<void> {
    await this.gateway.admin('network.create', { name: CLUB, owner: 'Anna' });
    for (const member of members) await this.add(member);
  }

  async add({ name }: Friend): Promise<void> {
    await this.gateway.admin('network.add', { network: CLUB, member: name });
  }

  async remove({ name }: Friend): Promise<void> {
    await this.gateway.admin('network.remove', { network: CLUB, member: name });
  }

  /** Shares all of Anna's `den-pc` with her network; `change` replaces fields. */
  async share(change: Partial<AdminArgs<'provider.share'>> = {}): Promise<void> {
    await this.gateway.admin('provider.share', {
      provider: 'den-pc',
      service: null,
      model: null,
      network: change.user === undefined ? CLUB : null,
      user: null,
      slots: null,
      hours: null,
      time_zone: null,
      max_tokens: null,
      ...change,
    });
  }

  /** Ends all shares of the provider. */
  async unshare(provider = 'den-pc'): Promise<void> {
    const unnamed = { service: null, model: null, network: null, user: null, share: null };
    await this.gateway.admin('provider.unshare', { provider, ...unnamed, all: true });
  }

  async #enroll(owner: string, name: string): Promise<string> {
    const asked = { owner, name: null, expires_in_s: 3_600, replace: null };
    const { token } = await this.gateway.admin('token.create', asked);
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name });
    const path = '/agent/v1/enroll';
    const enrolled = await this.gateway.fetch(path, { method: 'POST', headers, body });
    return ((await enrolled.json()) as { token: string }).token;
  }
}

/** By default the gateway does not wait for a provider to reconnect. */
export async function openCircle(settings: Partial<Config> = {}): Promise<Circle> {
  return new Circle(await startGateway({ reconnectWaitMs: 1, ...settings }));
}

/** Ben is in Anna's network, and all of her `den-pc` is shared with it. */
export async function openClub(
  home: HomeOptions = {},
  settings: Partial<Config> = {},
): Promise<{ readonly circle: Circle; readonly den: Home }> {
  const circle = await openCircle(settings);
  const den = await circle.home(circle.anna, home);
  await circle.found(circle.ben);
  await circle.share();
  return { circle, den };
}

/** The ids of the models that are online for this member. */
export async function modelsOf(friend: Caller): Promise<string[]> {
  const response = await friend.fetch('/v1/models');
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data.map(({ id }) => id).toSorted();
}

function friendOf(
  gateway: TestGateway,
  name: string,
  { key, enroll }: Pick<Friend, 'key' | 'enroll'>,
): Friend {
  const fetch = (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
    return gateway.fetch(path, { ...init, headers });
  };
  return { name, key, enroll, fetch };
}
