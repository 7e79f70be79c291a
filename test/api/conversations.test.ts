/** The turns of a conversation go to the provider that answered the earlier turns. */
import { Conversations } from '@inference-gateway/coordinator/relay/conversations';
import type { Call } from '@inference-gateway/coordinator/run/work';
import { expect, it, onTestFinished } from 'vitest';
import { answer } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { HeldAnswer } from './held-answer.js';
import { openStream } from './open-stream.js';
import { chat, post } from './requests.js';

interface Message {
  readonly role: string;
  readonly content: string;
}

/** A gateway with two providers of one slot each, and their servers by name. */
async function twoProviders() {
  const gateway = await startGateway();
  const fakes = new Map<string, FakeModelServer>();
  for (const name of ['a-pc', 'b-pc']) {
    const fake = await startFakeOpenAi({ behaviour: answer({ text: 'I see.' }) });
    onTestFinished(() => fake.close());
    await gateway.startAgent({ name, services: [{ baseUrl: fake.baseUrl, slots: 1 }] });
    fakes.set(name, fake);
  }
  return { gateway, fakes };
}

/** Sends one more message; returns the provider that answered, and all messages so far. */
async function turn(gateway: TestGateway, before: readonly Message[], said: string) {
  const messages = [...before, { role: 'user', content: said }];
  const response = await post(gateway, chat({ messages }));
  const { choices } = (await response.json()) as { choices: { message: Message }[] };
  const told = choices.map(({ message: { role, content } }) => ({ role, content }));
  return { by: response.headers.get('x-provider') ?? '', messages: [...messages, ...told] };
}

it('five turns are answered by one provider, and other conversations find the other', async () => {
  const { gateway } = await twoProviders();
  const served = new Set<string>();
  for (const topic of ['Tea', 'Coffee', 'Milk']) {
    let { by: first, messages } = await turn(gateway, [], topic);
    served.add(first);
    for (let i = 2; i <= 5; i++) {
      const next = await turn(gateway, messages, `Turn ${i}`);
      expect(next.by).toBe(first);
      ({ messages } = next);
    }
  }
  expect([...served].toSorted()).toEqual(['a-pc', 'b-pc']);
});

it('a conversation does not wait for its provider while the other one is free', async () => {
  const { gateway, fakes } = await twoProviders();
  const { by, messages } = await turn(gateway, [], 'Tea');
  const own = fakes.get(by);
  const held = new HeldAnswer();
  own?.once(held.behaviour);
  const opening = openStream(gateway, {
    messages: [...messages, { role: 'user', content: 'And?' }],
  });
  await held.asked();
  held.chunk('Well ');
  const stream = await opening;
  expect(stream.headers.get('x-provider')).toBe(by);
  const meanwhile = await turn(gateway, messages, 'Or?');
  expect(meanwhile.by).not.toBe(by);
  held.finish();
  await stream.all();
  const back = await turn(gateway, meanwhile.messages, 'So?');
  expect(back.by).toBe(meanwhile.by);
});

const SESSIONS: readonly (readonly [string, (name: string) => Partial<Named>])[] = [
  ['the header x-session-id', (name) => ({ headers: { 'x-session-id': name } })],
  ['the header x-session-affinity', (name) => ({ headers: { 'x-session-affinity': name } })],
  ['prompt_cache_key', (name) => ({ fields: { prompt_cache_key: name } })],
  ['metadata.user_id', (name) => ({ fields: { metadata: { user_id: name } } })],
];

interface Named {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: object;
}

/** The provider that answers a call which has no text in common with another. */
async function answeredBy(gateway: TestGateway, { headers = {}, fields = {} }: Partial<Named>) {
  const messages = [{ role: 'user', content: `Something new: ${Math.random()}` }];
  const response = await post(gateway, chat({ messages, ...fields }), { headers });
  await response.text();
  return response.headers.get('x-provider');
}

it.each(SESSIONS)('calls of one session, named by %s, stay together', async (_, named) => {
  const { gateway } = await twoProviders();
  const served = new Set<string | null>();
  for (const name of ['one', 'two', 'three', 'four']) {
    const first = await answeredBy(gateway, named(name));
    served.add(first);
    for (let i = 0; i < 3; i++) expect(await answeredBy(gateway, named(name))).toBe(first);
  }
  // Without a name, they would go to both in turn.
  expect(served.size).toBe(2);
});

it('in a large body, and translated from another API, too', async () => {
  const { gateway } = await twoProviders();
  const padding = 'a'.repeat(400_000);
  const large = { messages: [{ role: 'user', content: padding }] };
  const first = await answeredBy(gateway, { fields: { ...large, prompt_cache_key: 'large' } });
  for (let i = 0; i < 3; i++) {
    const other = { messages: [{ role: 'user', content: `${i}${padding}` }] };
    const fields = { ...other, prompt_cache_key: 'large' };
    expect(await answeredBy(gateway, { fields })).toBe(first);
    const asked = { model: 'tiny', input: `Else ${i}`, prompt_cache_key: 'large' };
    const response = await post(gateway, asked, { path: '/v1/responses' });
    await response.text();
    expect(response.headers.get('x-provider')).toBe(first);
  }
});

interface Said {
  readonly memberId?: string;
  readonly model?: string;
  readonly session?: string;
  readonly messages: readonly string[];
}

/** A chat as the relay has it. */
function callOf({ memberId = 'anna', model = 'tiny', session = 's', messages }: Said): Call {
  const listed = messages.map((content) => ({ role: 'user', content }));
  const body = Buffer.from(JSON.stringify({ messages: listed }));
  return { endpoint: 'chat', caller: { memberId }, model, body, session } as unknown as Call;
}

it('the session of another member, or of another model, is another one', () => {
  const conversations = new Conversations();
  const first = callOf({ messages: ['a'] });
  expect(conversations.preferred(first)).toBeNull();
  conversations.served(first, 'den-pc');
  const messages = ['b'];
  expect(conversations.preferred(callOf({ messages }))).toBe('den-pc');
  expect(conversations.preferred(callOf({ messages, memberId: 'ben' }))).toBeNull();
  expect(conversations.preferred(callOf({ messages, model: 'other' }))).toBeNull();
});

it('a conversation that is known goes before the session', () => {
  const conversations = new Conversations();
  const one = callOf({ session: 's', messages: ['a'] });
  const two = callOf({ session: 't', messages: ['b'] });
  for (const work of [one, two]) conversations.preferred(work);
  conversations.served(one, 'den-pc');
  conversations.served(two, 'attic-pc');
  const next = callOf({ session: 't', messages: ['a', 'more'] });
  expect(conversations.preferred(next)).toBe('den-pc');
});
