/** What is left of a member in a browser that another one uses next: nothing. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn } from '../support/page-session.js';
import { send, startRecordingServer } from '../support/recording-server.js';
import type { RecordingServer } from '../support/recording-server.js';
import { tone } from '../support/sound.js';
import { until } from '../support/until.js';

let gateway: TestGateway;
let browser: TestBrowser;
let voice: RecordingServer;
/** The first speech waits for it. */
let release: () => void;

beforeAll(async () => {
  const released = new Promise<void>((go) => (release = go));
  voice = await startRecordingServer(async ({ path, body }, response) => {
    if (!path.endsWith('/speech')) return send(response, 200, { object: 'list', data: [] });
    if (String(body).includes('Anna')) await released;
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(tone(0.5));
    return undefined;
  });
  gateway = await openGateway();
  const unknown = { contextLength: null, inputModalities: null, supportedFeatures: null };
  const models = [{ id: 'kokoro', servedName: 'kokoro', voices: ['emma'], ...unknown }];
  const service = { id: 'tts-0', type: 'tts', baseUrl: `${voice.origin}/v1`, models } as const;
  await gateway.startAgent({ services: [service], name: 'den-pc' });
  const all = { service: null, model: null, network: null, slots: null, max_tokens: null };
  const hours = { hours: null, time_zone: null };
  await gateway.admin('provider.share', { provider: 'den-pc', user: 'Ben', ...all, ...hours });
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await voice.close();
});

async function becomeBen(page: Page): Promise<void> {
  // A poll that is in progress when the session ends is refused.
  expectProblem(page, /401/);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('E-mail').fill(gateway.ben.email);
  await page.getByLabel('Password', { exact: true }).fill(MEMBER_PASSWORD);
  await page.keyboard.press('Enter');
  await page.locator('.sidebar-foot .name', { hasText: 'Ben' }).waitFor();
}

async function speak(page: Page, text: string): Promise<void> {
  await page.getByLabel('Text').fill(text);
  await page.getByRole('button', { name: 'Speak' }).click();
}

test('an answer that comes after its member has left is shown to nobody', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.goto('/playground/speech');
  await speak(page, 'Anna has a secret.');
  await until(() => voice.opened('/v1/audio/speech'));
  await becomeBen(page);
  release();
  await speak(page, 'Good evening.');
  await page.getByRole('article', { name: 'Good evening.' }).getByText('den-pc').waitFor();
  expect(await page.getByText('Anna has a secret.').count()).toBe(0);
});

test('what was spoken cannot be heard any more, even at its known address', async () => {
  const page = await browser.newPage();
  expectProblem(page, /blob:/);
  await logIn(page, gateway, gateway.anna);
  await page.goto('/playground/speech');
  await speak(page, 'For me alone.');
  const url = await page.locator('audio').getAttribute('src');
  const canPlay = (): Promise<boolean> =>
    page.evaluate(
      `new Promise((done) => {
        const player = new Audio('${url}');
        player.onloadedmetadata = () => done(true);
        player.onerror = () => done(false);
      })`,
    );
  expect(url).toMatch(/^blob:/);
  expect(await canPlay()).toBe(true);
  await becomeBen(page);
  expect(await canPlay()).toBe(false);
});

test('a tab follows who logs in at another one, and keeps nothing of the one before', async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(5_000);
  expectProblem(page, /401/);
  await logIn(page, gateway, gateway.anna);
  await page.goto('/playground/speech');
  await page.getByLabel('Text').fill('of Anna');
  const other = await page.context().newPage();
  await other.goto('/usage');
  await becomeBen(other);
  await page.locator('.sidebar-foot .name', { hasText: 'Ben' }).waitFor();
  expect(await page.getByLabel('Text').inputValue()).toBe('');
  await other.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a member who could not be logged out is told so, and not shown as logged out', async () => {
  const page = await browser.newPage();
  page.setDefaultTimeout(5_000);
  expectProblem(page, /ERR_INTERNET_DISCONNECTED|WebSocket/);
  await logIn(page, gateway, gateway.anna);
  await page.goto('/playground/speech');
  await page.getByLabel('Text').waitFor();
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.locator('.toast').waitFor();
  expect(await page.getByRole('heading', { name: 'Log in' }).count()).toBe(0);
  await page.context().setOffline(false);
});
