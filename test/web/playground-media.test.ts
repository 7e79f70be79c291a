/** Pictures, speech and transcriptions of the playground, in a browser. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryLook } from '../support/browser.js';
import { expectAccessible, expectNoSideways, shoot } from '../support/page-checks.js';
import { picture, runFfmpeg } from '../support/pictures.js';
import { WORDS, openPlayground } from '../support/playground.js';
import type { Playground } from '../support/playground.js';
import { refuseUntilRetry } from '../support/refused-requests.js';
import { tone } from '../support/sound.js';
import { until } from '../support/until.js';

let playground: Playground;

beforeAll(async () => {
  playground = await openPlayground();
});

afterAll(() => playground.close());

async function inspect(page: Page, name: string): Promise<void> {
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `${name}-${width}-${theme}`);
  });
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** The form of the last request to a path of the model server. */
async function lastForm(path: string): Promise<FormData> {
  const request = await until(() => playground.media.to(path).at(-1));
  const headers = { 'content-type': String(request.headers['content-type']) };
  return new Response(new Uint8Array(request.body), { headers }).formData();
}

function lastBody(path: string): unknown {
  return JSON.parse(String(playground.media.to(path).at(-1)?.body));
}

async function bytesOf(value: File | string | null): Promise<Buffer> {
  if (!(value instanceof File)) throw new Error('there is no such file');
  return Buffer.from(await value.arrayBuffer());
}

/** The opacity of each pixel, row by row. */
async function alphaOf(png: Buffer): Promise<number[]> {
  const raw = await runFfmpeg(['-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgba'], png);
  return Array.from({ length: raw.length / 4 }, (_, index) => raw[index * 4 + 3] ?? 0);
}

function nothingPainted(page: Page) {
  return page.getByText('Nothing is painted: the whole picture may change.');
}

test('a picture is generated, downloaded, and kept while one looks at another kind', async () => {
  const page = await playground.open('image');
  await page.getByText('No pictures yet.').waitFor();
  await inspect(page, 'playground-image-empty');
  await page.getByLabel('Prompt').fill('A lighthouse');
  await page.getByLabel('Size').selectOption('512x512');
  // In number fields of Firefox, Playwright writes behind what is there.
  await page.getByLabel('How many').clear();
  await page.getByLabel('How many').fill('2');
  await page.getByRole('button', { name: 'Generate' }).click();
  const made = page.getByRole('article', { name: 'A lighthouse' });
  await made.getByText('den-pc').waitFor();
  await made.getByText('req_').waitFor();
  expect(await made.getByRole('img').count()).toBe(2);
  const body = { model: 'painter', prompt: 'A lighthouse', size: '512x512' };
  expect(lastBody('/v1/images/generations')).toMatchObject(body);
  const isLoaded = `document.querySelector('article img').naturalWidth === 16`;
  await until(() => page.evaluate<boolean>(isLoaded));
  await made.getByRole('button', { name: 'A lighthouse (1)' }).click();
  const box = page.getByRole('dialog', { name: 'Picture 1 of 2' });
  await box.getByRole('img', { name: 'A lighthouse (1)' }).waitFor();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('dialog', { name: 'Picture 2 of 2' }).waitFor();
  await inspect(page, 'playground-lightbox');
  const download = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toMatch(/\.png$/);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Speech' }).click();
  await page.getByLabel('Text').fill('Kept');
  await page.getByRole('link', { name: 'Image' }).click();
  await made.waitFor();
  expect(await page.getByLabel('Prompt').inputValue()).toBe('A lighthouse');
  await page.getByRole('link', { name: 'Speech' }).click();
  expect(await page.getByLabel('Text').inputValue()).toBe('Kept');
});

test('a picture is edited where it was painted: the mask is transparent there alone', async () => {
  const page = await playground.open('image');
  await page.getByText('Edit', { exact: true }).click();
  const files = [{ name: 'cat.png', mimeType: 'image/png', buffer: picture() }];
  await page.getByLabel('Choose a picture').setInputFiles(files);
  await nothingPainted(page).waitFor();
  await page.getByLabel('What to change').fill('a dog');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByRole('article', { name: 'a dog' }).waitFor();
  const whole = await lastForm('/v1/images/edits');
  expect([...whole.keys()].toSorted()).not.toContain('mask');
  expect(whole.get('prompt')).toBe('a dog');

  const board = page.locator('.mask-board canvas');
  const box = await board.boundingBox();
  if (box === null) throw new Error('the picture is not shown');
  await page.getByLabel('Brush size').fill('20');
  // A stroke over the upper half, from the left to the right.
  await page.mouse.move(box.x + 2, box.y + box.height / 4);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + box.height / 4, { steps: 4 });
  await page.mouse.up();
  await page.getByText('What is painted may change; the rest stays.').waitFor();
  await inspect(page, 'playground-image-edit');
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await until(() => playground.media.to('/v1/images/edits').length === 2);
  const form = await lastForm('/v1/images/edits');
  expect(await bytesOf(form.get('image') ?? form.get('image[]'))).toHaveLength(picture().length);
  const alpha = await alphaOf(await bytesOf(form.get('mask')));
  expect(alpha).toHaveLength(16 * 16);
  expect(alpha[4 * 16 + 8]).toBe(0);
  expect(alpha[12 * 16 + 8]).toBe(255);
});

test('a mask is undone, erased, cleared, and painted by numbers without a pointer', async () => {
  const page = await playground.open('image');
  await page.getByText('Edit', { exact: true }).click();
  const files = [{ name: 'cat.png', mimeType: 'image/png', buffer: picture() }];
  await page.getByLabel('Choose a picture').setInputFiles(files);
  await page.getByLabel('What to change').fill('a fish');
  await page.getByText('Paint a rectangle by numbers').press('Enter');
  await page.getByLabel('Width, pixels').clear();
  await page.getByLabel('Width, pixels').fill('8');
  await page.getByRole('button', { name: 'Paint it' }).press('Enter');
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await nothingPainted(page).waitFor();
  await page.getByRole('button', { name: 'Paint it' }).press('Enter');
  await page.getByText('Erase', { exact: true }).click();
  await page.locator('.mask-board canvas').click({ position: { x: 4, y: 4 } });
  const before = playground.media.to('/v1/images/edits').length;
  await page.getByRole('button', { name: 'Edit', exact: true }).press('Enter');
  await until(() => playground.media.to('/v1/images/edits').length > before);
  const alpha = await alphaOf(await bytesOf((await lastForm('/v1/images/edits')).get('mask')));
  expect(alpha[8 * 16 + 4]).toBe(0);
  expect(alpha[8 * 16 + 12]).toBe(255);
  // Erased again, up to the edge of a round brush.
  expect(alpha[0]).toBeGreaterThan(200);
  await page.getByRole('button', { name: 'Clear' }).click();
  await nothingPainted(page).waitFor();
  await page.getByRole('article', { name: 'a fish' }).waitFor();
  await page.getByRole('button', { name: 'Edit this' }).click();
  await page.getByText('picture.png, 16 × 16').waitFor();
});

test('speech is spoken in the voice that was picked, plays, and is downloaded', async () => {
  const page = await playground.open('speech');
  await page.getByLabel('Voice').selectOption('bf_emma');
  await page.getByLabel('Text').fill('Good evening.');
  await page.getByRole('button', { name: 'Speak' }).click();
  const spoken = page.getByRole('article', { name: 'Good evening.' });
  await spoken.getByText('den-pc').waitFor();
  const body = { model: 'kokoro', input: 'Good evening.', voice: 'bf_emma' };
  expect(lastBody('/v1/audio/speech')).toMatchObject(body);
  const played = `document.querySelector('audio').play().then(() => true)`;
  expect(await page.evaluate<boolean>(played)).toBe(true);
  await until(() => page.evaluate<boolean>(`document.querySelector('audio').duration === 0.5`));
  const download = page.waitForEvent('download');
  await spoken.getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toBe('speech.wav');
  await inspect(page, 'playground-speech');
});

test('speech is spoken in the voice of a recording', async () => {
  const page = await playground.open('voice');
  await inspect(page, 'playground-voice');
  expect(await page.getByLabel('Model').locator('option').allTextContents()).toEqual([
    expect.stringContaining('chatterbox'),
  ]);
  const files = [{ name: 'anna.wav', mimeType: 'audio/wav', buffer: tone(2) }];
  await page.getByLabel('Choose a recording').setInputFiles(files);
  await page.getByLabel('What the recording says').fill('Good morning.');
  await page.getByLabel('Text', { exact: true }).fill('Good night.');
  await page.getByRole('button', { name: 'Speak' }).click();
  await page.getByRole('article', { name: 'Good night.' }).getByText('den-pc').waitFor();
  const form = await lastForm('/v1/voice/generations');
  expect(form.get('input')).toBe('Good night.');
  expect(form.get('transcript')).toBe('Good morning.');
  expect((await bytesOf(form.get('file'))).length).toBeGreaterThan(1_000);
});

test('music and a video are made, play, and are downloaded', async () => {
  const page = await playground.open('music');
  await page.getByText('No music yet.').waitFor();
  await page.getByLabel('Prompt').fill('Slow jazz');
  await page.getByLabel('Lyrics').fill('La la');
  await page.getByLabel('Seconds').fill('2');
  await page.getByRole('button', { name: 'Generate' }).click();
  const song = page.getByRole('article', { name: 'Slow jazz' });
  await song.getByText('den-pc').waitFor();
  const music = { model: 'ace', prompt: 'Slow jazz', lyrics: 'La la', audio_duration: 2 };
  expect(lastBody('/v1/music/generations')).toEqual(music);
  await until(() => page.evaluate<boolean>(`document.querySelector('audio').duration === 0.5`));
  const download = page.waitForEvent('download');
  await song.getByRole('link', { name: 'Download' }).click();
  expect((await download).suggestedFilename()).toMatch(/\.wav$/);
  await inspect(page, 'playground-music');
  await page.getByRole('link', { name: 'Video' }).click();
  const files = [{ name: 'cat.png', mimeType: 'image/png', buffer: picture() }];
  await page.getByLabel('Choose a first picture').setInputFiles(files);
  await page.getByText('Begins with cat.png.').waitFor();
  await page.getByLabel('Prompt').fill('Waves');
  await page.getByLabel('Width').fill('64');
  await page.getByRole('button', { name: 'Generate' }).click();
  await page.getByRole('article', { name: 'Waves' }).getByText('den-pc').waitFor();
  expect(lastBody('/v1/videos/generations')).toEqual({
    model: 'wan',
    prompt: 'Waves',
    width: 64,
    image: `data:image/png;base64,${picture().toString('base64')}`,
  });
  await until(() => page.evaluate<boolean>(`document.querySelector('video').duration === 1`));
  await inspect(page, 'playground-video');
});

test('the words of a transcription are clicked, and the sound plays from there', async () => {
  const page = await playground.open('transcribe');
  await page.getByLabel('Model').selectOption('whisper');
  const files = [{ name: 'note.wav', mimeType: 'audio/wav', buffer: tone(2) }];
  await page.getByLabel('Choose a file').setInputFiles(files);
  await page.getByLabel('Language').fill('en');
  await page.getByRole('button', { name: 'Transcribe' }).click();
  const word = page.getByRole('button', { name: 'there', exact: true });
  await word.waitFor();
  await page.evaluate(`window.startedAt = new Promise((resolve) => document.querySelector('audio')
    .addEventListener('play', ({ target }) => resolve(target.currentTime), { once: true })); 0`);
  await word.click();
  const form = await lastForm('/v1/audio/transcriptions');
  expect(form.get('language')).toBe('en');
  expect(form.get('response_format')).toBe('verbose_json');
  expect(await page.evaluate<number>('startedAt')).toBeCloseTo(WORDS[1]?.start ?? NaN, 1);
  await page.getByText('den-pc').waitFor();
  await inspect(page, 'playground-transcribe');
  await page.getByLabel('Model').selectOption('plain-whisper');
  await page.getByText('This model tells no times.').waitFor();
  await page.getByRole('button', { name: 'Transcribe' }).click();
  await page.getByText('Hello there', { exact: true }).waitFor();
});

test('what failed is tried again, in every tab', async () => {
  const recording = [{ name: 'note.wav', mimeType: 'audio/wav', buffer: tone(1) }];
  const page = await playground.open('image');
  await refuseUntilRetry(
    page,
    /\/api\/console\/v1\/(?:audio|images|music|videos|voice)\/\w+$/,
    'No.',
  );
  const fill = (label: string) => page.getByLabel(label, { exact: true }).fill('Again');
  const choose = (label: string) => page.getByLabel(label).setInputFiles(recording);
  const tabs: readonly (readonly [string, string, () => Promise<void>])[] = [
    ['image', 'Generate', () => fill('Prompt')],
    ['speech', 'Speak', () => fill('Text')],
    ['transcribe', 'Transcribe', () => choose('Choose a file')],
    ['music', 'Generate', () => fill('Prompt')],
    ['video', 'Generate', () => fill('Prompt')],
    ['voice', 'Speak', () => choose('Choose a recording').then(() => fill('Text'))],
  ];
  for (const [kind, verb, prepare] of tabs) {
    await page.goto(`/playground/${kind}`);
    await prepare();
    await page.getByRole('button', { name: verb }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'storage_unavailable' });
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('den-pc').waitFor();
    expect([kind, await alert.count()]).toEqual([kind, 0]);
  }
});

test('what is recorded in the browser is transcribed', async () => {
  const page = await playground.open('transcribe');
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByRole('button', { name: 'Stop recording' }).click();
  await page.getByText('recording.webm').waitFor();
  await page.getByLabel('Model').selectOption('plain-whisper');
  await page.getByRole('button', { name: 'Transcribe' }).click();
  await page.getByText('Hello there', { exact: true }).waitFor();
  const sound = await bytesOf((await lastForm('/v1/audio/transcriptions')).get('file'));
  expect(sound.subarray(0, 4).toString('hex')).toBe('1a45dfa3');
});

test('a recording that nobody ends does so after half an hour, and says it', async () => {
  const page = await playground.open('transcribe');
  await page.clock.install();
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByRole('button', { name: 'Stop recording' }).waitFor();
  await page.clock.fastForward('30:00');
  await page.getByText('The recording has ended by itself after 30 min.').waitFor();
  await page.getByText('recording.webm').waitFor();
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByText('ended by itself').waitFor({ state: 'detached' });
});

test('where the microphone is refused, the page says how it is had', async () => {
  const page = await playground.open('transcribe');
  const refuse = `navigator.mediaDevices.getUserMedia = () =>
    Promise.reject(new DOMException('no', 'NotAllowedError'))`;
  await page.evaluate(refuse);
  await page.getByRole('button', { name: 'Record' }).click();
  await page.getByText('This page may not use the microphone.').waitFor();
});

test('pictures and speech run as jobs, which are opened', async () => {
  const page = await playground.open('image');
  await page.getByLabel('Prompt').fill('Later');
  await page.getByLabel('Run as a job (async)').check();
  await page.getByRole('button', { name: 'Submit the job' }).click();
  await page.waitForURL(/\/jobs\/[\w-]+$/);
  expect(await jobAt(page)).toMatchObject({ inference_type: 'IMAGE', model: 'painter' });
  await page.goto('/playground/speech');
  await page.getByLabel('Text').fill('Later');
  await page.getByLabel('Run as a job (async)').check();
  await page.getByRole('button', { name: 'Submit the job' }).click();
  await page.waitForURL(/\/jobs\/[\w-]+$/);
  expect(await jobAt(page)).toMatchObject({ inference_type: 'TTS', model: 'kokoro' });
});

async function jobAt(page: Page): Promise<unknown> {
  const id = page.url().split('/').at(-1);
  return (await playground.gateway.fetch(`/v1/jobs/${id}`)).json();
}
