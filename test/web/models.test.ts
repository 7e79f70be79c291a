/** Models: what a member may use now, found, copied and tried. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { answer } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { TestGateway } from '../support/gateway.js';
import { expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { logIn, openPage } from '../support/page-session.js';
import { connectRawAgent, HELLO } from '../support/raw-agent.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { until } from '../support/until.js';

let served: ServedGateway;
let gateway: TestGateway;
let browser: TestBrowser;

beforeAll(async () => {
  served = await openServedGateway();
  ({ gateway } = served);
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await served.stop();
});

function atModels(who: { readonly email: string }, filter = ''): Promise<Page> {
  return openPage({ gateway, browser }, who, `/models${filter}`);
}

function row(page: Page, id: string) {
  return page.getByRole('row').filter({ has: page.getByText(id, { exact: true }) });
}

type Service = (typeof HELLO)['services'][number];
type Model = Service['models'][number];

const MODEL: Model = {
  id: 'm',
  served_name: 'm',
  context_length: 131_072,
  input_modalities: ['text', 'image'],
  output_modalities: ['text'],
  supported_features: ['tools', 'structured_outputs'],
  loaded: false,
};

/** A machine of Anna's with a model of each type. */
async function studio(name: string) {
  const of = (type: string, id: string, model: Partial<Model> = {}): Service => ({
    service_id: `${type}-1`,
    service_type: type as Service['service_type'],
    slots: 2,
    models: [{ ...MODEL, id, served_name: id, supported_features: [], ...model }],
  });
  const token = await gateway.anna.enroll(name);
  return connectRawAgent(gateway.address, token, {
    services: [
      of('llm', 'qwen3-vl:32b', { supported_features: MODEL.supported_features }),
      of('image', 'sdxl', { context_length: null, output_modalities: ['image'] }),
      of('tts', 'kokoro', { context_length: null, output_modalities: ['audio'] }),
      of('video', 'wan-2.2', { context_length: null, output_modalities: ['video'] }),
      of('embedding', 'bge-m3', { context_length: null, output_modalities: ['embedding'] }),
    ],
  });
}

test('a member who may use nothing is told how to get something', async () => {
  const page = await atModels(gateway.ben);
  await page.getByText('No model is online for you.').waitFor();
  await expectSound(page, 'models-empty');
  await page.getByRole('link', { name: 'Add a GPU' }).click();
  await page.getByRole('heading', { name: 'Providers', level: 1 }).waitFor();
});

test('each row tells what a model can do, where it runs, and whose it is', async () => {
  await studio('studio');
  const { id: network } = await gateway.admin('network.create', {
    name: 'friends',
    owner: gateway.anna.email,
  });
  await gateway.admin('network.add', { network, member: gateway.ben.email });
  const shared = { provider: 'den-pc', service: null, model: 'tiny', network, user: null };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  await gateway.admin('provider.share', { ...shared, ...caps });
  // Long enough to be measured.
  served.fake.behave(answer({ text: 'one two three four five six seven eight nine ten' }));
  const messages = [{ role: 'user' as const, content: 'Count.' }];
  await gateway.client.chat.completions.create({ model: 'tiny', messages });

  const page = await atModels(gateway.anna);
  const vision = row(page, 'qwen3-vl:32b');
  for (const part of ['Chat', 'text, image → text', 'tools', '128K', '2 of 2', 'yours']) {
    await vision.filter({ hasText: part }).waitFor();
  }
  await row(page, 'tiny')
    .filter({ hasText: /4 of 41 provider[\d,.]+ tokens\/s/ })
    .waitFor();
  const film = row(page, 'wan-2.2').getByRole('link', { name: 'Try' });
  expect(await film.getAttribute('href')).toBe('/playground/video?model=wan-2.2');
  expect(await row(page, 'bge-m3').getByRole('link').count()).toBe(0);
  await expectSound(page, 'models-full');

  const bens = await atModels(gateway.ben);
  await row(bens, 'tiny').getByText('Anna').waitFor();
  expect(await bens.getByRole('row').count()).toBe(1 + 1);
});

test('an id is copied, and a model is tried where its type is', async () => {
  await studio('darkroom');
  const page = await atModels(gateway.anna);
  await page.getByRole('button', { name: 'Copy sdxl' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('sdxl');
  await page.getByRole('link', { name: 'Try sdxl' }).click();
  await page.waitForURL('**/playground/image?model=sdxl');
  await page.locator('main h1', { hasText: 'Playground' }).waitFor();
  const picker = page.getByRole('combobox', { name: 'Model' });
  await until(async () => (await picker.inputValue()) === 'sdxl');
});

test('500 models are searched in the address, and drawn a hundred at a time', async () => {
  const ids = Array.from({ length: 500 }, (_, i) => `model-${String(i).padStart(3, '0')}`);
  const many = await startFakeOpenAi({ models: ids });
  const agent = await gateway.startAgent({
    services: [{ id: 'llm-9', baseUrl: many.baseUrl }],
    name: 'rack',
    owner: gateway.ben,
  });
  const page = await atModels(gateway.ben, '?search=model-49');
  await page.getByText('10 models').waitFor();
  expect(await page.getByRole('row').count()).toBe(1 + 10);
  const began = performance.now();
  await page.getByRole('searchbox', { name: 'Search' }).fill('model-');
  await page.getByText('100 of 500 models').waitFor();
  expect(performance.now() - began).toBeLessThan(1_500);
  expect(new URL(page.url()).search).toBe('?search=model-');
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('200 of 500 models').waitFor();
  await page.getByRole('combobox', { name: 'Type' }).selectOption('llm');
  await page.waitForURL('**/models?search=model-&type=llm');
  await page.getByRole('searchbox', { name: 'Search' }).fill('nothing like it');
  await page.getByText('No models match these filters.').waitFor();
  await expectSoundNarrow(page, 'models-no-match');
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await page.waitForURL('**/models');
  await agent.stop();
  await many.close();
});

test('without an answer it says so, and comes back', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, '**/my/model.list*', 'Not now.');
  await page.goto('/models');
  await page.getByText('Not now.').waitFor();
  await expectSoundNarrow(page, 'models-error');
  await page.getByRole('button', { name: 'Try again' }).click();
  await row(page, 'tiny').waitFor();
});
