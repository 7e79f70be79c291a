import { describe, expect, it } from 'vitest';
import { startHeldModel } from '../support/held-model.js';
import type { HeldModel } from '../support/held-model.js';
import { until } from '../support/until.js';
import { ended, getJob, submitted } from './job-calls.js';
import { chat, eventsOf, failureOf, post, sent } from './requests.js';
import { modelsOf, openCircle, openClub } from './sharing-stage.js';
import type { Circle, Friend, Home } from './sharing-stage.js';

/** Four slots, of which the network may use this many. */
async function openSlots(slots: number): Promise<{ circle: Circle; held: HeldModel }> {
  const held = await startHeldModel();
  const circle = await openCircle();
  await circle.home(circle.anna, { services: [{ baseUrl: held.server.baseUrl, slots: 4 }] });
  await circle.found(circle.ben);
  await circle.share({ slots });
  return { circle, held };
}

describe('slots', () => {
  it('are of all who use the share together: the third waits though the card is free', async () => {
    const { circle, held } = await openSlots(2);
    const cleo = await circle.newcomer('Cleo');
    await circle.add(cleo);
    const bens = post(circle.ben, chat());
    const cleos = post(cleo, chat());
    await until(() => held.server.inFlight === 2);
    const messages = [{ role: 'user', content: 'third' }];
    const third = await sent(circle.ben, () => post(circle.ben, chat({ messages })));
    const own = [post(circle.anna, chat()), post(circle.anna, chat())];
    await until(() => held.server.inFlight === 4);
    expect(held.server.requests.map(({ text }) => text).join()).not.toContain('third');
    held.release();
    const calls = await Promise.all([bens, cleos, ...own, third.answer]);
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(held.server.maxInFlight).toBe(4);
  });

  it('hold for jobs and calls together, and a job that waits says why', async () => {
    const { circle, held } = await openSlots(1);
    const { id: running } = await submitted(circle.ben);
    await until(() => held.server.inFlight === 1);
    const { id: waiting } = await submitted(circle.ben);
    const call = await sent(circle.ben, () => post(circle.ben, chat()));
    const { waiting_reason: reason } = await getJob(circle.ben, waiting);
    expect(reason).toContain("All that is shared with you of 'tiny' is busy");
    expect(held.server.inFlight).toBe(1);
    held.release();
    expect((await call.answer).status).toBe(200);
    for (const id of [running, waiting]) {
      expect((await ended(circle.ben, id)).status).toBe('PROCESSED');
    }
    expect(held.server.maxInFlight).toBe(1);
  });

  it('are counted a share: another share with the same member is another', async () => {
    const { circle, held } = await openSlots(1);
    await circle.share({ user: 'Ben', slots: 1 });
    const calls = [post(circle.ben, chat()), post(circle.ben, chat())];
    await until(() => held.server.inFlight === 2);
    const third = await sent(circle.ben, () => post(circle.ben, chat()));
    expect(held.server.inFlight).toBe(2);
    held.release();
    for (const call of [...calls, third.answer]) expect((await call).status).toBe(200);
    expect(held.server.maxInFlight).toBe(2);
  });
});

const HOUR_MS = 3_600_000;

/** Hours in UTC; `begin` and `end` are hours from now. */
function hoursFromNow(begin: number, end: number): { hours: string; time_zone: string } {
  return { hours: `${clockIn(begin)}-${clockIn(end)}`, time_zone: 'UTC' };
}

function clockIn(hours: number): string {
  return new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 16);
}

const OPEN = hoursFromNow(-2, 2);
const CLOSED = hoursFromNow(2, 4);

describe('hours', () => {
  it('that are over hide the model: it is in no list, a call is 404 model_offline', async () => {
    const { circle, den } = await openClub();
    await circle.share(CLOSED);
    expect(await modelsOf(circle.ben)).toEqual([]);
    expect((await circle.ben.fetch('/v1/models/tiny')).status).toBe(404);
    const refused = await failureOf(await post(circle.ben, chat()));
    expect(refused).toMatchObject({ status: 404, type: 'no_provider', code: 'model_offline' });
    expect(refused.message).toContain('shared at other hours of the day');
    expect(den.fake.requests).toEqual([]);
  });

  it('hold nothing back from the owner', async () => {
    const { circle } = await openClub();
    await circle.share(CLOSED);
    expect(await modelsOf(circle.anna)).toEqual(['tiny']);
    expect((await post(circle.anna, chat())).status).toBe(200);
  });

  it('that are now let calls through', async () => {
    const { circle } = await openClub();
    await circle.share(OPEN);
    expect(await modelsOf(circle.ben)).toEqual(['tiny']);
    expect((await post(circle.ben, chat())).status).toBe(200);
  });

  it('are waited for by jobs, which say so, and run once it is time', async () => {
    const { circle } = await openClub();
    await circle.share(CLOSED);
    const { id } = await submitted(circle.ben);
    expect(await getJob(circle.ben, id)).toMatchObject({
      status: 'QUEUED',
      waiting_reason: "The model 'tiny' is shared with you at other hours of the day.",
    });
    await circle.share(OPEN);
    expect((await ended(circle.ben, id)).status).toBe('PROCESSED');
  });

  it('of one share do not bind what another gives', async () => {
    const { circle } = await openClub();
    await circle.share(CLOSED);
    await circle.share({ user: 'Ben', model: 'tiny' });
    expect((await post(circle.ben, chat())).status).toBe(200);
  });
});

/** The network may get answers of at most 50 tokens. */
async function openCapped(): Promise<{ circle: Circle; den: Home }> {
  const opened = await openClub();
  await opened.circle.share({ max_tokens: 50 });
  return opened;
}

/** The `max_tokens` that the local server receives, and the one in the caller's answer header. */
async function limitsOf(friend: Friend, { fake }: Home, fields: object) {
  const { status, headers } = await post(friend, chat(fields));
  expect(status).toBe(200);
  const { max_tokens: sent } = fake.lastRequest.body;
  return { sent, told: headers.get('x-max-tokens') };
}

describe('max_tokens', () => {
  it.each([
    ['absent: the cap is asked for', {}, { sent: 50, told: '50' }],
    ['greater: it is lowered', { max_tokens: 100 }, { sent: 50, told: '50' }],
    ['greater by its newer name', { max_completion_tokens: 100 }, { sent: 50, told: '50' }],
    ['-1, which is none', { max_tokens: -1 }, { sent: 50, told: '50' }],
    ['-1 by its newer name', { max_completion_tokens: -1 }, { sent: 50, told: '50' }],
    ['less: it stays', { max_tokens: 10 }, { sent: 10, told: null }],
    ['greater, streamed', { max_tokens: 100, stream: true }, { sent: 50, told: '50' }],
  ])('%s', async (_, fields, expected) => {
    const { circle, den } = await openCapped();
    expect(await limitsOf(circle.ben, den, fields)).toEqual(expected);
  });

  it('never binds the owner', async () => {
    const { circle, den } = await openCapped();
    const asked = { max_tokens: 100 };
    expect(await limitsOf(circle.anna, den, asked)).toEqual({ sent: 100, told: null });
    expect(await limitsOf(circle.anna, den, {})).toEqual({ sent: undefined, told: null });
  });

  it('binds legacy completions', async () => {
    const { circle, den } = await openCapped();
    const body = { model: 'tiny', prompt: 'once', max_tokens: 100 };
    const { headers } = await post(circle.ben, body, { path: '/v1/completions' });
    expect(headers.get('x-max-tokens')).toBe('50');
    expect(den.fake.lastRequest.body).toMatchObject({ max_tokens: 50 });
  });

  it('binds jobs', async () => {
    const { circle, den } = await openCapped();
    for (const [asked, sent] of [
      [100, 50],
      [10, 10],
    ]) {
      const { id } = await submitted(circle.ben, { max_tokens: asked });
      expect((await ended(circle.ben, id)).status).toBe('PROCESSED');
      expect(den.fake.lastRequest.body).toMatchObject({ max_tokens: sent });
    }
  });

  it('is the greatest of the shares that let the caller in', async () => {
    const { circle, den } = await openCapped();
    await circle.share({ user: 'Ben', max_tokens: 80 });
    expect(await limitsOf(circle.ben, den, {})).toEqual({ sent: 80, told: '80' });
  });

  it('an answer that reaches it says so: finish_reason is passed on', async () => {
    const { circle, den } = await openCapped();
    const choice = {
      index: 0,
      delta: { role: 'assistant', content: 'So' },
      finish_reason: 'length',
    };
    den.fake.behave((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify({ id: '1', choices: [choice] })}\n\ndata: [DONE]\n\n`);
    });
    const stream = await (await post(circle.ben, chat({ stream: true }))).text();
    expect(eventsOf(stream).join()).toContain('"finish_reason":"length"');
  });
});
