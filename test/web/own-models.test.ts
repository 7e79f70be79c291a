/**
 * Provider, as its agent tells its owner: Models, from the switched-off state to a pulled and
 * deleted one; the last 24 hours.
 */
import { DayFile } from '@inference-gateway/agent/state/day-file';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MANAGED } from '../agent/models/model-stage.js';
import { readMy } from '../api/console-calls.js';
import { chat, post } from '../api/requests.js';
import { Circle } from '../api/sharing-stage.js';
import { visitAgain } from '../api/visitor.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startManagedOllama } from '../support/local-servers/managed-ollama.js';
import type { ManagedOllama } from '../support/local-servers/managed-ollama.js';
import { expectSound, expectSoundNarrow } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { openPage } from '../support/page-session.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const GIB = 1024 ** 3;

let gateway: TestGateway;
let browser: TestBrowser;
let ollama: ManagedOllama;

beforeAll(async () => {
  gateway = await openGateway();
  browser = await openBrowser(gateway);
  ollama = await startManagedOllama();
  ollama.models.set('llama3.2:3b', 2 * GIB);
  ollama.models.set(
    'a-namespace-of-some-length/a-model-with-a-very-long-name:8b-instruct-q4_K_M',
    GIB,
  );
  ollama.loaded.add('llama3.2:3b');
  ollama.library.set('qwen3:8b', { layers: [5 * GIB] });
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await ollama.server.close();
});

async function open(name: string): Promise<Page> {
  const page = await openPage({ gateway, browser }, gateway.anna, '/providers');
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name: 'Models', exact: true }).waitFor();
  return page;
}

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();

test('an owner who has not allowed it reads how, in a line', async () => {
  const services = [{ backend: 'ollama', baseUrl: ollama.baseUrl }];
  await gateway.startAgent({ services, name: 'shy-pc' });
  const page = await open('shy-pc');
  await page.getByText('You can load, unload, pull and delete models from here').waitFor();
  await page.getByText('"manage_models": true').waitFor();
  expect(await page.getByRole('button', { name: 'Pull a model' }).count()).toBe(0);
});

test('an owner pulls a model, cancels one, loads, unloads and deletes', async () => {
  await gateway.startAgent({
    services: [{ backend: 'ollama', baseUrl: ollama.baseUrl, modelsFolder: gateway.dataDir }],
    models: { ...MANAGED, maxBytes: 100 * GIB, minFreeBytes: 0 },
    modelLimits: { lookMs: 50 },
  });
  const page = await open('den-pc');
  const row = (name: string) =>
    page.getByRole('region', { name: 'Models on den-pc' }).getByRole('row', { name });
  await row('llama3.2:3b').getByText('in memory').waitFor();
  await row('llama3.2:3b').getByText('2.0 GiB').waitFor();
  await expectSound(page, 'provider-models');

  ollama.isHeld = true;
  await press(page, 'Pull a model');
  const dialog = page.getByRole('dialog');
  expectProblem(page, /provider\.model-pull/);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('hf.co/user/model');
  await page.keyboard.press('Enter');
  await dialog.getByText('is not the name of a model here').waitFor();
  await dialog
    .getByText(/You let pulled models have 100 GiB more\. Its disk has .* left/)
    .waitFor();
  await expectSoundNarrow(page, 'provider-models-pull');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('qwen3:8b');
  await page.keyboard.press('Enter');
  await dialog.getByText('2.5 GiB of 5.0 GiB').first().waitFor();
  await expectSoundNarrow(page, 'provider-models-pulling');
  await dialog.getByRole('button', { name: 'Cancel the pull' }).click();
  await dialog.getByText('The pull of qwen3:8b is canceled.').waitFor();
  await press(page, 'Done');
  await until(() => ollama.server.aborts.some(({ path }) => path === '/api/pull'));

  await press(page, 'Pull a model');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('qwen3:8b');
  await page.keyboard.press('Enter');
  await dialog.getByText('2.5 GiB of 5.0 GiB').first().waitFor();
  await dialog.getByText(/Free on the disk: .* now, .* expected after it\./).waitFor();
  await press(page, 'Close, and let it go on');
  await page.getByText('Pulling qwen3:8b').waitFor();
  await expectSound(page, 'provider-models-under-way');
  ollama.isHeld = false;
  await row('qwen3:8b').getByText('pulled here').waitFor();
  await page.getByText(/Pulled from here: 5\.0 GiB of at most 100 GiB\. .* are free/).waitFor();

  const choose = async (name: string, action: string): Promise<void> => {
    await page.getByLabel(`Actions for ${name}`).click();
    await press(page, action);
  };
  await choose('qwen3:8b', 'Load');
  await row('qwen3:8b').getByText('in memory').waitFor();
  await choose('llama3.2:3b', 'Unload');
  await row('llama3.2:3b').getByText('on the disk').waitFor();
  // Only what was pulled from here can be deleted.
  await page.getByLabel('Actions for llama3.2:3b').click();
  expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await choose('qwen3:8b', 'Delete…');
  await dialog.getByText('Its files of 5.0 GiB are deleted from den-pc').waitFor();
  await press(page, 'Delete');
  await row('qwen3:8b').waitFor({ state: 'detached' });
  expect(ollama.models.has('qwen3:8b')).toBe(false);
});

test('what members of a network want is pulled from the list of models', async () => {
  const circle = new Circle(gateway);
  const cleo = await circle.newcomer('Cleo');
  const friends = { name: 'friends', owner: gateway.anna.email };
  const { id: network } = await gateway.admin('network.create', friends);
  for (const member of ['Ben', 'Cleo']) await gateway.admin('network.add', { network, member });
  ollama.library.set('phi4-mini:3.8b', { layers: [2 * GIB] });
  const ask = (model: string) =>
    Promise.all([circle.anna, circle.ben, cleo].map((who) => post(who, chat({ model }))));
  await ask('a-long-name-of-some-owner/a-model-that-many-members-want:8b-q4_K_M');
  await ask('phi4-mini:3.8b');
  const wanted = async () =>
    readMy(await visitAgain(gateway, gateway.ben.email), 'model.wanted', {});
  const bens = await openPage({ gateway, browser }, gateway.ben, '/models');
  await bens.getByRole('row', { name: /phi4-mini:3\.8b.*3 members/ }).waitFor();
  expect(await bens.getByRole('link', { name: /Pull/ }).count()).toBe(0);

  const page = await openPage({ gateway, browser }, gateway.anna, '/models');
  const pull = page.getByRole('link', { name: 'Pull… phi4-mini:3.8b' });
  await pull.waitFor();
  await expectSound(page, 'models-wanted');
  await pull.click();
  const dialog = page.getByRole('dialog', { name: 'Pull a model to den-pc' });
  const name = dialog.getByRole('textbox', { name: 'Name' });
  expect(await name.inputValue()).toBe('phi4-mini:3.8b');
  expect(ollama.models.has('phi4-mini:3.8b')).toBe(false);
  await name.press('Enter');
  await dialog.getByText('phi4-mini:3.8b is there.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).search).toBe('');
  // What is there is wanted no more.
  await until(async () => (await wanted()).length === 1);
});

const HOUR_MS = 3_600_000;

/** As an earlier process of the agent has left it: two hours, with a gap of ten minutes. */
async function measuredDay(): Promise<string> {
  const minutes = Array.from({ length: 120 }, (_, index) => index);
  const series = (value: number) => {
    const mean = minutes.map((index) => (index >= 60 && index < 70 ? null : value + (index % 7)));
    return { mean, max: mean.map((one) => (one === null ? null : one + 2)) };
  };
  const unknown = { mean: minutes.map(() => null), max: minutes.map(() => null) };
  const card = {
    name: null,
    memory_mib: null,
    use_percent: series(40),
    memory_used_mib: series(9_000),
    temperature_c: series(60),
    power_watts: unknown,
  };
  const day = {
    first_at: Date.now() - 3 * HOUR_MS,
    watches: true,
    own_slots: series(1),
    others_slots: series(0),
    programs_percent: unknown,
  };
  const stateDir = await temporaryFolder();
  await new DayFile(stateDir).write({ cards: [card, card], day });
  return stateDir;
}

test('an owner sees the last 24 hours of each card, and the last 30 days', async () => {
  const gpu = { name: 'NVIDIA RTX 4090', vendor: 'NVIDIA', vram_mib: 24_564, driver: '570' };
  const agent = await gateway.startAgent({
    services: [{ backend: 'ollama', baseUrl: ollama.baseUrl }],
    name: 'watched-pc',
    stateDir: await measuredDay(),
    host: () => ({ os: 'linux', arch: 'x64', gpus: [gpu, gpu] }),
  });
  const page = await open('watched-pc');
  await page.getByRole('heading', { name: '2: NVIDIA RTX 4090' }).waitFor();
  const charts = page.getByRole('group', { name: /The arrow keys read its minutes/ });
  await until(async () => (await charts.count()) === 7);
  const slots = 'Slots in use: My calls 3.9 on average, at most 9; Others’ calls 2.9';
  await page.getByText(slots).waitFor();
  await page.getByText('In use: 43 % on average, at most 48 %.').first().waitFor();
  const [use] = await charts
    .filter({ has: page.locator('canvas') })
    .nth(1)
    .all();
  await use?.focus();
  await page.keyboard.press('Home');
  await page.getByText(/, In use: 40 %, at most 42 %\.$/).waitFor();
  await page.getByText('Hours as a table').nth(1).click();
  const table = page.getByRole('region', { name: '1: NVIDIA RTX 4090, by the hour' });
  await table.getByRole('columnheader', { name: 'Temperature' }).waitFor();
  await page.getByText('of the time today.').waitFor();
  expect(await page.getByRole('list', { name: 'Online, day by day' }).locator('li').count()).toBe(
    30,
  );
  await expectSound(page, 'provider-day');
  await agent.stop();
  await page.getByText('The machine is offline. Its agent tells them').waitFor();
  await page.getByRole('row', { name: /The agent was stopped/ }).waitFor();
  await expectSoundNarrow(page, 'provider-day-offline');
});
