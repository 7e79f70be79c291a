/** The turns of a conversation go to the provider that answered the earlier turns. */
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
