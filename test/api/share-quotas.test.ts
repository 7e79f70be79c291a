/** What others may use of a share in a day and a month, set by its owner. */
import { openStore } from '@inference-gateway/coordinator/store/open';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answer } from '../support/fake-behaviours.js';
import { startHeldModel } from '../support/held-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { readMy } from './console-calls.js';
import { ended, getJob, submitted } from './job-calls.js';
import { chat, failureOf, post } from './requests.js';
import { openCircle } from './sharing-stage.js';
import type { Circle } from './sharing-stage.js';
import { visit } from './visitor.js';

const BEHAVIOUR = answer({ text: 'one two three' });
const ANSWER_TOKENS = 10;

async function openShare(day: Record<string, number>): Promise<Circle> {
  const circle = await openCircle();
  await circle.home(circle.anna, { slots: 16, behaviour: BEHAVIOUR });
  await circle.found(circle.ben);
  await circle.share({ day });
  return circle;
}

describe('a share with a quota', () => {
  it('serves all others together that much, and its owner as before', async () => {
    const circle = await openShare({ requests: 2 });
    const cleo = await circle.newcomer('Cleo');
    await circle.add(cleo);
    expect((await post(circle.ben, chat())).status).toBe(200);
    expect((await post(circle.anna, chat())).status).toBe(200);
    expect((await post(cleo, chat())).status).toBe(200);
    const refused = await failureOf(await post(circle.ben, chat()));
    expect(refused).toMatchObject({ status: 429, code: 'quota_exceeded', retry: 'false' });
    expect(refused.message).toMatch(
      /^The share of Anna\/den-pc has used 2 of its 2 requests of this day, until .*Z\.$/,
    );
    expect((await post(cleo, chat({ stream: true }))).status).toBe(429);
    expect((await post(circle.anna, chat())).status).toBe(200);
  });

  it('counts tokens, and a change of it applies at once', async () => {
    const circle = await openShare({ tokens: ANSWER_TOKENS + 1 });
    const send = async () => (await post(circle.ben, chat({ max_tokens: 3 }))).status;
    expect([await send(), await send(), await send()]).toEqual([200, 200, 429]);
    await circle.share({ day: { tokens: 2 * ANSWER_TOKENS + 1 } });
    expect([await send(), await send()]).toEqual([200, 429]);
    await circle.share();
    expect(await send()).toBe(200);
  });

  it('is passed by one call at most, of 60 at once', async () => {
    const held = await startHeldModel('one two three');
    const circle = await openCircle();
    await circle.home(circle.anna, { services: [{ baseUrl: held.server.baseUrl, slots: 16 }] });
    await circle.found(circle.ben);
    await circle.share({ day: { tokens: 5 * ANSWER_TOKENS } });
    const calls = Array.from({ length: 60 }, () => post(circle.ben, chat({ max_tokens: 3 })));
    await until(() => held.server.inFlight >= 2);
    held.release();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    const ok = statuses.filter((status) => status === 200).length;
    expect(ok).toBeGreaterThan(1);
    expect(ok).toBeLessThan(6);
    expect(statuses.filter((status) => status === 429)).toHaveLength(60 - ok);
  });

  it('keeps jobs of others waiting, which say why, and not those of the owner', async () => {
    const circle = await openShare({ requests: 1 });
    const first = await submitted(circle.ben);
    expect((await ended(circle.ben, first.id)).status).toBe('PROCESSED');
    const { id } = await submitted(circle.ben);
    await until(async () => {
      const { waiting_reason: reason } = await getJob(circle.ben, id);
      return reason?.includes('The share of Anna/den-pc has used 1 of its 1 requests');
    });
    const own = await submitted(circle.anna);
    expect((await ended(circle.anna, own.id)).status).toBe('PROCESSED');
    await circle.share({ day: { requests: 2 } });
    await until(async () => (await getJob(circle.ben, id)).status === 'PROCESSED');
  });

  it('has what was used before a restart', async () => {
    const dataDir = await temporaryFolder();
    const circle = await openCircle({ dataDir });
    await circle.home(circle.anna, { behaviour: BEHAVIOUR });
    await circle.found(circle.ben);
    await circle.share({ day: { requests: 2 } });
    expect((await post(circle.ben, chat())).status).toBe(200);
    await circle.gateway.stop();
    const store = await openStore(dataDir);
    onTestFinished(() => store.close());
    const [share] = await store.listShares(null);
    const ofShare = { memberId: '', keyId: null, shareId: share?.id ?? '' };
    expect((await store.quotaUse(ofShare, Date.now())).day.requests).toBe(1);
  });

  it('tells its owner what others have used of it, and nobody else', async () => {
    const circle = await openShare({ requests: 5, tokens: 1_000 });
    await circle.share({ user: 'Ben', network: null, model: 'other' });
    await post(circle.ben, chat());
    const asked = { provider: 'den-pc' };
    const uses = async () => {
      const { shares } = await circle.gateway.admin('provider.show', asked);
      return shares.map(({ used }) => used && [used.day.requests, used.month.tokens]);
    };
    await until(async () => JSON.stringify(await uses()).includes('1'));
    expect(await uses()).toEqual([[1, ANSWER_TOKENS], null]);
    const anna = await visit(circle.gateway, 'anna@example.org');
    const given = await readMy(anna, 'share.given', {});
    expect(given[0]?.used).toMatchObject({ day: { requests: 1, tokens: ANSWER_TOKENS } });
    expect(given[0]?.used?.day.until).toBeGreaterThan(Date.now());
    const ben = await visit(circle.gateway, 'ben@example.org');
    const [network] = await readMy(ben, 'network.list', {});
    const told = [
      await readMy(ben, 'share.received', {}),
      (await readMy(ben, 'network.show', { network: network?.id ?? '' })).shares,
    ];
    for (const shares of told) {
      expect(shares.length).toBeGreaterThan(0);
      for (const share of shares) expect(share).not.toHaveProperty('used');
    }
  });

  it('leaves the other shares and machines of the caller to them', async () => {
    const circle = await openShare({ requests: 0 });
    expect((await post(circle.ben, chat())).status).toBe(429);
    await circle.share({ user: 'Ben', network: null });
    expect((await post(circle.ben, chat())).status).toBe(200);
  });
});
