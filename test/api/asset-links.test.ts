import { beforeAll, describe, expect, it } from 'vitest';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { picture } from '../support/pictures.js';
import { SPEECH, startStudio } from '../support/studio.js';
import { ASSETS, bytesOf, draw, speak } from './media-calls.js';
import type { ImageList, ListedAsset } from './media-calls.js';
import { ended, getJson, listJobs, submitted } from './job-calls.js';
import { administer, failureOf } from './requests.js';
import { connect, STOCK_CLIENTS } from './stock-clients.js';

const LINK = /\/api\/inference\/assets\/\w{22}\/\?expires=\d{10}&signature=[\w-]{43}$/;

/** A gateway on which anyone with a link can read the file. */
let gateway: TestGateway;
/** A key of Anna's. */
let privateKey: string;

beforeAll(async () => {
  gateway = await openGateway({ assetsAccess: 'link' });
  const { fake } = await startStudio(gateway, { types: ['image', 'tts'], voices: ['af_sky'] });
  privateKey = await keyWith(gateway, 'private');
  return async () => {
    await gateway.stop();
    await fake.close();
  };
});

async function keyWith(at: TestGateway, assets: 'private' | 'link'): Promise<string> {
  const args = { user: 'Anna', name: `files ${assets}`, scope: 'any', assets, expires_in_s: null };
  return String((await administer(at, 'key.create', args))['key']);
}

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

async function drawn(options: Parameters<typeof draw>[2] = {}): Promise<string> {
  const { data } = (await (await draw(gateway, {}, options)).json()) as ImageList;
  return data[0]?.url ?? '';
}

describe('the addresses in answers open without a key', () => {
  it.each(STOCK_CLIENTS)('of images, as $version has them', async ({ Sdk }) => {
    const { data = [] } = await connect(Sdk, gateway).images.generate({ model: 'sd', prompt: 'x' });
    expect(data[0]?.url).toMatch(LINK);
    const image = await fetch(data[0]?.url ?? '');
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await bytesOf(image)).subarray(0, 8)).toEqual(picture().subarray(0, 8));
  });

  it('of speech, in x-asset-url', async () => {
    const response = await speak(gateway);
    const url = response.headers.get('x-asset-url') ?? '';
    expect(url).toMatch(LINK);
    // The file is stored when the answer is complete.
    expect(await bytesOf(response)).toEqual(SPEECH);
    expect(await bytesOf(await fetch(url))).toEqual(SPEECH);
  });

  it('of jobs, in result_url and assets, wherever they are told', async () => {
    const path = '/v1/images/generations';
    const { id } = await submitted(gateway, { model: 'sd', prompt: 'x' }, { path });
    const job = await ended(gateway, id);
    const [row] = (await listJobs(gateway)).data;
    const urls = [job.result_url, row?.result_url, ...(job.assets ?? []).map(({ url }) => url)];
    expect(urls).toHaveLength(3);
    for (const url of urls) {
      expect(url).toMatch(LINK);
      expect((await fetch(url ?? '')).status).toBe(200);
    }
  });

  it('of the list of files', async () => {
    const { data } = await getJson<{ data: ListedAsset[] }>(gateway, ASSETS);
    expect(data[0]?.url).toMatch(LINK);
    expect((await fetch(data[0]?.url ?? '')).status).toBe(200);
  });
});

describe('what a key says of them goes before what the operator says', () => {
  it('private, where the operator opens them', async () => {
    const url = await drawn(bearer(privateKey));
    expect(url).not.toContain('signature');
    expect(await failureOf(await fetch(url))).toMatchObject({ status: 401 });
    expect((await fetch(url, bearer(privateKey))).status).toBe(200);
  });

  it('link, where the operator does not', async () => {
    const own = await openGateway();
    const { fake } = await startStudio(own, { types: ['image'] });
    const options = bearer(await keyWith(own, 'link'));
    const { data } = (await (await draw(own, {}, options)).json()) as ImageList;
    expect(data[0]?.url).toMatch(LINK);
    expect((await fetch(data[0]?.url ?? '')).status).toBe(200);
    const { data: plain } = (await (await draw(own)).json()) as ImageList;
    const refused = await failureOf(await fetch(plain[0]?.url ?? ''));
    expect(refused).toMatchObject({ status: 401, code: 'missing_api_key' });
    for (const remedy of ['Authorization', 'GATEWAY_ASSETS_ACCESS=link', '--assets link'])
      expect(refused.message).toContain(remedy);
    await own.stop();
    await fake.close();
  });
});

describe('a link ends', () => {
  it('with its file', async () => {
    const url = await drawn();
    const { pathname } = new URL(url);
    expect((await gateway.fetch(pathname, { method: 'DELETE' })).status).toBe(200);
    expect(await failureOf(await fetch(url))).toMatchObject({ code: 'asset_not_found' });
  });

  it('while its owner is disabled', async () => {
    const url = await drawn();
    await administer(gateway, 'user.disable', { member: 'Anna' });
    expect(await failureOf(await fetch(url))).toMatchObject({ status: 404 });
    await administer(gateway, 'user.enable', { member: 'Anna' });
    expect((await fetch(url)).status).toBe(200);
  });
});
