import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { post } from '../api/requests.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectAccessible, expectSound } from '../support/page-checks.js';
import { logIn, openPage } from '../support/page-session.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { MODELS, startStudio } from '../support/studio.js';
import type { Studio } from '../support/studio.js';
import { until } from '../support/until.js';

const ASSETS = '/api/inference/assets';

let gateway: TestGateway;
let studio: Studio;
let browser: TestBrowser;

beforeAll(async () => {
  gateway = await openGateway();
  studio = await startStudio(gateway);
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await studio.fake.close();
});

async function make(path: string, body: object): Promise<void> {
  const response = await post(gateway, body, { path });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

async function listed(): Promise<readonly { readonly id: string }[]> {
  const answer = await gateway.fetch(ASSETS);
  return ((await answer.json()) as { data: { id: string }[] }).data;
}

function open(path: string, who = gateway.anna): Promise<Page> {
  return openPage({ gateway, browser }, who, path);
}

test('an empty library says what comes here', async () => {
  const page = await open('/library', gateway.ben);
  await page.getByText('No files yet.').waitFor();
  await expectSound(page, 'library-empty');
});

test('shows pictures, sounds and films, each as what it is', async () => {
  await make('/v1/images/generations', { model: MODELS.image, prompt: 'a hill', n: 2 });
  await make('/v1/audio/speech', { model: MODELS.tts, input: 'Hello there.' });
  await make('/v1/music/generations', { model: MODELS.music, prompt: 'a march' });
  await make('/v1/videos/generations', { model: MODELS.video, prompt: 'a wave' });
  const page = await open('/library');
  const files = page.locator('.asset');
  await files.nth(4).waitFor();
  expect(await files.count()).toBe(5);
  await page.locator('.asset img').last().scrollIntoViewIfNeeded();
  const widths = await page.evaluate<readonly number[]>(`Promise.all(
    [...document.querySelectorAll('.asset img')].map(async (image) => {
      await image.decode();
      return image.naturalWidth;
    }),
  )`);
  expect(widths.map((width) => width > 0)).toEqual([true, true]);
  const cut = await page.evaluate<number>(`[...document.querySelectorAll('.asset .preview')]
    .filter((box) => box.scrollHeight > box.clientHeight).length`);
  expect(cut).toBe(0);
  const seconds = await page.evaluate<number>(`(async () => {
    const audio = [...document.querySelectorAll('.asset audio')].at(-1);
    audio.muted = true;
    await audio.play();
    return audio.duration;
  })()`);
  expect(seconds).toBeCloseTo(0.5, 1);
  // Sounds are short here, and their waves are drawn from their samples.
  await page.locator('.asset-wave svg[role="img"]').nth(1).waitFor();
  const wave = await page.locator('.asset-wave path').first().getAttribute('d');
  expect(wave?.split('M')).toHaveLength(33);
  expect(await page.locator('.asset-name').allTextContents()).toEqual([
    'a wave',
    'a march',
    'Hello there.',
    'a hill',
    'a hill',
  ]);
  await expectSound(page, 'library-full');
  await page.getByLabel('Search').fill('HELLO');
  await until(async () => (await files.count()) === 1);
  await page.getByLabel('Search').fill('nothing like this');
  await page.getByText('No files match these filters.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await until(async () => (await files.count()) === 5);

  await page.getByText('Sounds', { exact: true }).click();
  await page.locator('.asset img').first().waitFor({ state: 'detached' });
  await until(async () => (await files.count()) === 2);
  expect(new URL(page.url()).search).toBe('?kind=sound');
});

test('a file is saved under a name that says what it is', async () => {
  const page = await open('/library?kind=picture');
  const coming = page.waitForEvent('download');
  await page
    .getByRole('link', { name: /^Download Image/ })
    .first()
    .click();
  expect((await coming).suggestedFilename()).toMatch(/\.(png|jpe?g|webp)$/);
});

test('one is deleted after a question, and several at once', async () => {
  const before = await listed();
  const page = await open('/library');
  const files = page.locator('.asset');
  await files.first().waitFor();
  await page.getByRole('button', { name: /^Delete Video/ }).click();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Keep it' }).click();
  expect(await listed()).toHaveLength(before.length);
  await page.getByRole('button', { name: /^Delete Video/ }).click();
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('Deleted.').waitFor();
  await until(async () => (await files.count()) === 4);

  for (const box of await page.getByLabel(/^Select Image/).all()) await box.check();
  await page.getByText('2 files selected').waitFor();
  await page.getByRole('button', { name: 'Delete 2 files' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete 2 files' }).click();
  await page.getByText('Deleted 2 files.').waitFor();
  await until(async () => (await files.count()) === 2);
  expect(await listed()).toHaveLength(2);
  await page.getByText('Images', { exact: true }).click();
  await page.getByText('No files match these filters.').waitFor();
  await page.getByRole('button', { name: 'Clear the filters' }).click();
  await files.first().waitFor();
});

test('jobs and requests have a small picture of what they made', async () => {
  const painted = { model: MODELS.image, prompt: 'a lighthouse', async: true };
  await make('/v1/images/generations', painted);
  await make('/v1/audio/speech', { model: MODELS.tts, input: 'Good evening.', async: true });
  const page = await open('/jobs');
  const picture = page.getByRole('img', { name: 'a lighthouse' });
  await picture.waitFor();
  expect(await picture.getAttribute('loading')).toBe('lazy');
  await page.getByRole('img', { name: 'The wave of Good evening.' }).waitFor();
  await expectSound(page, 'jobs-thumbs');
  await page.goto('/usage');
  const evening = page.getByRole('row').filter({ hasText: 'Good evening.' });
  await evening.scrollIntoViewIfNeeded();
  await evening.getByRole('img', { name: 'The wave of Good evening.' }).waitFor();
  await page.getByRole('img', { name: 'a lighthouse' }).waitFor();
  await expectSound(page, 'usage-thumbs');
  await evening.getByRole('link', { name: 'Good evening.' }).click();
  await page.locator('audio').waitFor();
  await expectSound(page, 'request-of-job');
  await page.getByRole('link', { name: /^[0-9A-Z]{26}$/ }).click();
  await page.getByRole('img', { name: 'The wave of result 1' }).waitFor();
  await expectSound(page, 'job-sound');
});

test('a list that cannot be loaded says why', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await refuseUntilRetry(page, /inference\/assets\?/, 'The database is full.');
  await page.goto('/library');
  await page.getByText('The database is full.').waitFor();
  await expectAccessible(page);
});
