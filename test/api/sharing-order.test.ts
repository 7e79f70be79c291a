import { describe, expect, it } from 'vitest';
import { startHeldModel } from '../support/held-model.js';
import type { HeldModel } from '../support/held-model.js';
import { until } from '../support/until.js';
import { ended, getJob, getJson, submitted } from './job-calls.js';
import { chat, post, sent } from './requests.js';
import { openClub } from './sharing-stage.js';
import type { Circle, Friend } from './sharing-stage.js';

/** A chat whose text is its caller's name. */
const by = ({ name }: Friend) => ({ messages: [{ role: 'user', content: name }] });

/** The callers of the requests that the local server has received, in its order. */
function askers({ server }: HeldModel): string[] {
  return server.requests.map(({ text }) => (text.includes('"Anna"') ? 'Anna' : 'Ben'));
}

/** A call of Anna's takes her only slot, which Ben may use too, until the test releases it. */
async function openBusy(): Promise<{ circle: Circle; held: HeldModel; call: Promise<Response> }> {
  const held = await startHeldModel();
  const { circle } = await openClub({ services: [{ baseUrl: held.server.baseUrl, slots: 1 }] });
  const call = post(circle.anna, chat(by(circle.anna)));
  await until(() => held.server.inFlight === 1);
  return { circle, held, call };
}

describe('a member’s own providers come first', () => {
  it('though a shared one is idle; it is used where the own ones are busy', async () => {
    const held = await startHeldModel();
    const { circle } = await openClub();
    const own = { baseUrl: held.server.baseUrl, slots: 1 };
    await circle.home(circle.ben, { name: 'bens-pc', services: [own] });
    held.release();
    for (let i = 0; i < 3; i++) {
      const { headers } = await post(circle.ben, chat());
      expect(headers.get('x-provider')).toBe('bens-pc');
    }
    held.hold();
    const busy = post(circle.ben, chat());
    await until(() => held.server.inFlight === 1);
    expect((await post(circle.ben, chat())).headers.get('x-provider')).toBe('den-pc');
    held.release();
    expect((await busy).headers.get('x-provider')).toBe('bens-pc');
  });

  it('and the owner’s row is theirs, where both serve one model', async () => {
    const { circle } = await openClub();
    await circle.home(circle.ben, { name: 'bens-pc' });
    const listed = await getJson<{ data: object[] }>(circle.ben, '/v1/models');
    expect(listed.data).toMatchObject([{ id: 'tiny', owned_by: 'Ben' }]);
  });
});

describe('on their own card, the owner’s work comes first', () => {
  it('a flood of others’ jobs waits while the owner’s run, and is told so', async () => {
    const { circle, held, call } = await openBusy();
    const { anna, ben } = circle;
    const flood = [];
    for (let i = 0; i < 4; i++) flood.push(await submitted(ben, by(ben)));
    const own = [await submitted(anna, by(anna)), await submitted(anna, by(anna))];
    const first = await getJob(ben, flood[0]?.id ?? '');
    expect(first).toMatchObject({ status: 'QUEUED' });
    expect(first.waiting_reason).toContain("; its owner's own jobs go first.");
    expect((await getJob(anna, own[0]?.id ?? '')).waiting_reason).not.toContain('owner');
    held.release();
    expect((await call).status).toBe(200);
    for (const { id } of own) expect((await ended(anna, id)).status).toBe('PROCESSED');
    for (const { id } of flood) expect((await ended(ben, id)).status).toBe('PROCESSED');
    expect(askers(held)).toEqual(['Anna', 'Anna', 'Anna', 'Ben', 'Ben', 'Ben', 'Ben']);
  });

  it('a call of the owner’s overtakes others’ calls that wait', async () => {
    const { circle, held, call } = await openBusy();
    const { anna, ben } = circle;
    const first = await sent(ben, () => post(ben, chat(by(ben))));
    const second = await sent(ben, () => post(ben, chat(by(ben))));
    const own = await sent(anna, () => post(anna, chat(by(anna))));
    held.release();
    for (const one of [call, own.answer, first.answer, second.answer])
      expect((await one).status).toBe(200);
    expect(askers(held)).toEqual(['Anna', 'Anna', 'Ben', 'Ben']);
  });
});

interface Summary {
  readonly queued: number;
  readonly processing: number;
  readonly by_model: readonly Record<string, unknown>[];
}

function summaryOf(friend: Friend): Promise<Summary> {
  return getJson(friend, '/api/inference/queue/summary');
}

describe('the queue summary', () => {
  it('shows the models that are shared with the caller, and no jobs but theirs', async () => {
    const { circle, held } = await openBusy();
    const { anna, ben } = circle;
    for (let i = 0; i < 3; i++) await submitted(anna);
    await submitted(ben);
    const row = { model: 'tiny', service_type: 'llm', slots: 1, providers_online: 1, running: 0 };
    const bens = { queued: 1, by_model: [{ ...row, queued: 1 }] };
    expect(await summaryOf(ben)).toMatchObject(bens);
    expect(await summaryOf(anna)).toMatchObject({ queued: 3, by_model: [{ ...row, queued: 3 }] });
    await circle.unshare();
    await until(async () => (await summaryOf(ben)).queued === 0);
    expect(await summaryOf(ben)).toMatchObject({ queued: 0, by_model: [] });
    held.release();
  });
});
