import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answer, reply } from '../support/fake-behaviours.js';
import type { TestGateway } from '../support/gateway.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { ask, readMy } from './console-calls.js';
import { ended, submitted } from './job-calls.js';
import { failureOf } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

let served: ServedGateway;
let gateway: TestGateway;
let anna: Visitor;

beforeAll(async () => {
  served = await openServedGateway();
  ({ gateway } = served);
  anna = await visit(gateway, 'anna@example.org');
});

afterAll(() => served.stop());

describe('what a page tells of a job beside the API', () => {
  it('is who ran it, and the request for as long as it is kept', async () => {
    served.fake.behave(reply(400, { error: { message: 'No.' } }));
    const { id } = await ended(gateway, (await submitted(gateway)).id);
    const facts = await readMy(anna, 'job.facts', { job: id });
    const told = { provider: 'Anna/den-pc', generation: 1, failed_attempts: [] };
    expect(facts).toMatchObject(told);
    const request = JSON.parse(facts.request ?? '') as object;
    expect(request).toMatchObject({ model: 'tiny', messages: [{ content: 'hello' }] });
    // The request as a provider receives it.
    expect(request).not.toHaveProperty('async');
    expect(facts.request_bytes).toBe(facts.request?.length);

    served.fake.behave(answer());
    await gateway.fetch(`/v1/jobs/${id}/retry`, { method: 'POST' });
    await ended(gateway, id);
    const later = await readMy(anna, 'job.facts', { job: id });
    expect(later).toMatchObject({ generation: 2, request: null, request_bytes: null });
  });

  it('leaves out a request that nobody would read, and says how long it is', async () => {
    await gateway.admin('queue.pause', {});
    const messages = [{ role: 'user', content: 'x'.repeat(300_000) }];
    const { id } = await submitted(gateway, { messages });
    const { request, request_bytes: bytes } = await readMy(anna, 'job.facts', { job: id });
    expect(request).toBeNull();
    expect(bytes).toBeGreaterThan(300_000);
  });

  it('is nobody else’s', async () => {
    const ben = await visit(gateway, 'ben@example.org');
    const { id } = await submitted(gateway);
    const answers = await Promise.all(
      [id, 'nothing'].map(async (job) => failureOf(await ask(ben, ['my', 'job.facts'], { job }))),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    const texts = answers.map(({ message }) => message.replace(/'.*?'/, ''));
    expect(texts[0]).toBe(texts[1]);
  });
});
