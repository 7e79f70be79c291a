import { AssetLinks, assetLinkSecret } from '@inference-gateway/coordinator/assets/asset-links';
import { createRouter } from '@inference-gateway/coordinator/http/edge/app';
import type { AppParts } from '@inference-gateway/coordinator/http/edge/app';
import { newSecret } from '@inference-gateway/shared/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { cookieOf, loggingIn, SAME_ORIGIN, SESSION_PATH } from './account-calls.js';
import { accepted, act, BATCHES, chatItem, JOBS, submitBatch, submitted } from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { ASSETS, IMAGES_PATH } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { CHAT, chat, failureOf, post } from './requests.js';
import { consolePath, visit, visitAgain, visitorWith } from './visitor.js';
import type { Visitor } from './visitor.js';

const ANNA = 'anna@example.org';
const FOREIGN = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' };

let gateway: TestGateway;
let texts: FakeModelServer;
let studio: Studio;
let anna: Visitor;
let ben: Visitor;

beforeAll(async () => {
  gateway = await openGateway();
  texts = await startFakeOpenAi();
  const services = [{ baseUrl: texts.baseUrl }];
  await gateway.startAgent({ services });
  await gateway.startAgent({ services, name: 'bens-pc', owner: gateway.ben });
  studio = await startStudio(gateway, { name: 'studio-pc', owner: gateway.ben, types: ['image'] });
  anna = await visit(gateway, ANNA);
  ben = await visit(gateway, 'ben@example.org');
});

afterAll(async () => {
  await gateway.stop();
  await Promise.all([texts.close(), studio.fake.close()]);
});

/** A placeholder for all parts: the routes are only registered here, never called. */
const anything: object = new Proxy(() => anything, { get: () => anything });

interface Layer {
  readonly methods: readonly string[];
  readonly path: string | RegExp;
}

/** Everyone may try to log in, by each way, and logging out twice is not an error. */
const OPEN = [
  `POST ${SESSION_PATH}`,
  `DELETE ${SESSION_PATH}`,
  `POST ${SESSION_PATH}/passkey`,
  'GET /api/console/v1/log-in',
  'POST /api/console/v1/passkey/challenge',
  'POST /api/console/v1/oidc/start',
  'POST /api/console/v1/password/reset',
];

const behindSession = (createRouter(anything as AppParts).stack as readonly Layer[])
  .map(({ methods, path }) => ({
    method: methods.find((one) => one !== 'HEAD') ?? '',
    path: typeof path === 'string' ? path.replaceAll(/:\w+/g, 'x') : '/v1/models/x',
  }))
  .map(({ method, path }) => [method, consolePath(path)] as const)
  .filter(([, path]) => /^\/api\/(console|inference)\//.test(path))
  .filter(([method, path]) => !OPEN.includes(`${method} ${path}`));

describe('without a session nothing is told', () => {
  it('the table has every call of the API', () => {
    const paths = behindSession.map(([method, path]) => `${method} ${path}`);
    const some = ['POST /api/console/v1/chat/completions', 'GET /api/console/v1/models/x'];
    expect(paths).toEqual(expect.arrayContaining([...some, `DELETE ${ASSETS}/x`]));
    expect(paths.length).toBeGreaterThan(20);
  });

  it.each(behindSession)('%s %s is 401', async (method, path) => {
    const url = `${gateway.address}${path}`;
    const key = { authorization: `Bearer ${gateway.anna.key}` };
    const over = { cookie: `gateway_session=${newSecret('gws')}` };
    // An API key gives no access to the console's paths.
    const tried = path.startsWith('/api/console/') ? [{}, over, key] : [{}, over];
    for (const headers of tried) {
      const response = await fetch(url, { method, headers: { ...SAME_ORIGIN, ...headers } });
      expect(await failureOf(response)).toMatchObject({ status: 401, type: 'not_authenticated' });
    }
  });

  it('a file is open to the holder of a link to it, and then takes no cookie', async () => {
    const own = await startGateway({ assetsAccess: 'link' });
    const over = visitorWith(own, `gateway_session=${newSecret('gws')}`);
    const secret = await assetLinkSecret(own.dataDir);
    const links = new AssetLinks({
      secret,
      access: 'link',
      lifetimeMs: 60_000,
      publicUrl: () => '',
      now: Date.now,
    });
    const response = await over.fetch(links.urlsFor(null)('nothing'));
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await failureOf(response)).toMatchObject({ status: 404, code: 'asset_not_found' });
    expect((await over.fetch(`${ASSETS}/nothing`)).status).toBe(401);
  });
});

describe('a cookie opens only what is for the dashboard', () => {
  it('neither /v1 nor what an agent asks', async () => {
    const headers = { cookie: anna.cookie, ...SAME_ORIGIN };
    const models = await fetch(`${gateway.address}/v1/models`, { headers });
    expect(await failureOf(models)).toMatchObject({ status: 401, code: 'missing_api_key' });
    expect((await fetch(`${gateway.address}/agent/v1/self`, { headers })).status).toBe(401);
  });

  it('and where a key is sent along with it, the key counts', async () => {
    const headers = { authorization: `Bearer ${gateway.ben.key}` };
    const response = await anna.fetch(ASSETS, { headers });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const wrong = await anna.fetch(ASSETS, { headers: { authorization: 'Bearer gwk_wrong' } });
    expect(await failureOf(wrong)).toMatchObject({ code: 'invalid_api_key' });
    const ofProxy = await anna.fetch(ASSETS, { headers: { authorization: 'Basic YTpi' } });
    expect(ofProxy.status).toBe(200);
  });
});

async function benDraws(): Promise<string> {
  const drawn = await post(ben, { model: 'sd', prompt: 'a cat' }, { path: IMAGES_PATH });
  const { data } = (await drawn.json()) as ImageList;
  return new URL(data[0]?.url ?? '').pathname;
}

describe('pages of others', () => {
  it.each([
    ['another site', FOREIGN],
    ['a sibling of the host', { 'sec-fetch-site': 'same-site' }],
    ['no page at all', { 'sec-fetch-site': 'none' }],
  ])('cannot act through a cookie: %s', async (_, headers) => {
    const asset = await benDraws();
    const { id } = await submitted(ben);
    const refused = [
      await post(ben, chat(), { headers }),
      await act(ben, `${JOBS}/${id}/cancel`, headers),
      await post(ben, {}, { path: '/api/console/v1/password', headers }),
      await ben.fetch(asset, { method: 'DELETE', headers }),
    ];
    for (const response of refused) {
      expect(await failureOf(response)).toMatchObject({ status: 403, code: 'foreign_origin' });
    }
    expect((await ben.fetch(asset)).status).toBe(200);
  });

  it('are told by no answer that they may read it', async () => {
    const asset = await benDraws();
    const answers = [
      await ben.fetch('/v1/models', { headers: FOREIGN }),
      await ben.fetch(CHAT, { method: 'OPTIONS', headers: FOREIGN }),
      await post(ben, chat(), { headers: FOREIGN }),
      await ben.fetch(asset, { headers: FOREIGN }),
      await ben.fetch(`${ASSETS}/nothing`, { headers: FOREIGN }),
      await ben.fetch('/api/inference/queue/summary', { headers: FOREIGN }),
    ];
    for (const { headers } of answers) {
      const names = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect(names).toEqual([]);
    }
  });

  it('the gateway’s own may delete a file', async () => {
    const asset = await benDraws();
    expect((await ben.fetch(asset, { method: 'DELETE' })).status).toBe(200);
    expect((await ben.fetch(asset)).status).toBe(404);
  });
});

describe('one member never sees another’s', () => {
  it('job, batch or file', async () => {
    const asset = await benDraws();
    const job = `${JOBS}/${(await submitted(ben)).id}`;
    const { id } = await accepted<BatchBody>(await submitBatch(ben, [chatItem()]));
    const batch = `${BATCHES}/${id}`;
    for (const path of [asset, job, batch]) {
      expect((await ben.fetch(path)).status).toBe(200);
      expect((await anna.fetch(path)).status).toBe(404);
    }
    for (const path of [`${job}/cancel`, `${job}/retry`, `${batch}/cancel`]) {
      expect((await act(anna, path)).status).toBe(404);
    }
    expect((await anna.fetch(asset, { method: 'DELETE' })).status).toBe(404);
    for (const path of [ASSETS, JOBS, BATCHES]) {
      expect(await (await anna.fetch(path)).json()).toMatchObject({ data: [] });
    }
  });

  it('nor another’s models', async () => {
    const failure = await failureOf(await anna.fetch('/v1/models/sd'));
    expect(failure).toMatchObject({ status: 404, code: 'model_not_found' });
  });
});

describe('a session cannot be planted or used again', () => {
  it('a cookie from before the log-in is replaced, and opens nothing', async () => {
    const planted = `gateway_session=${newSecret('gws')}`;
    const { path, headers, ...init } = loggingIn(ANNA);
    const sent = { ...init, headers: { ...headers, cookie: planted } };
    const own = cookieOf(await fetch(`${gateway.address}${path}`, sent));
    expect(own).not.toBe(planted);
    expect((await visitorWith(gateway, own).fetch('/v1/models')).status).toBe(200);
    expect((await visitorWith(gateway, planted).fetch('/v1/models')).status).toBe(401);
  });

  it('nor after logging out, nor once its member is disabled', async () => {
    const [first, second] = [await visitAgain(gateway, ANNA), await visitAgain(gateway, ANNA)];
    expect((await first.fetch(SESSION_PATH, { method: 'DELETE' })).status).toBe(204);
    expect((await first.fetch('/v1/models')).status).toBe(401);
    expect((await second.fetch('/v1/models')).status).toBe(200);
    await gateway.admin('user.disable', { member: ANNA });
    expect((await second.fetch(ASSETS)).status).toBe(401);
    await gateway.admin('user.enable', { member: ANNA });
  });
});
