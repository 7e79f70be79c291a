/** Ways to what the page has: the command palette, keys, notifications, and the page as an app. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeFeed } from '@inference-gateway/coordinator/http/dashboard/feed';
import { Fault } from '../../packages/coordinator/web/src/api/fault.js';
import { newNotices } from '../../packages/coordinator/web/src/shell/notifications.js';
import { byId, matching } from '../../packages/coordinator/web/src/shell/palette-match.js';
import { openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectSound } from '../support/page-checks.js';
import { logIn } from '../support/page-session.js';
import { holdBack } from '../support/refused-requests.js';
import { until } from '../support/until.js';
import { submitted } from '../api/job-calls.js';

function entry(text: string, kind = 'Screen', words?: string) {
  return { id: text, icon: '', text, kind, opens: '/', ...(words !== undefined && { words }) };
}

const ENTRIES = [
  entry('Jobs'),
  entry('API keys', 'Screen', 'token'),
  entry('Create an API key', 'Action', 'token'),
  entry('qwen3-vl:32b', 'Chat model'),
  entry('llama-vl', 'Chat model'),
];

describe('the palette finds', () => {
  test.each([
    ['', ENTRIES.map(({ text }) => text)],
    ['job', ['Jobs']],
    ['token', ['API keys', 'Create an API key']],
    ['key cr', ['Create an API key']],
    // The text begins with it, then one of its words does, then it is anywhere.
    ['l', ['llama-vl', 'qwen3-vl:32b']],
    ['vl', ['qwen3-vl:32b', 'llama-vl']],
    ['CHAT MODEL', ['qwen3-vl:32b', 'llama-vl']],
    ['32b jobs', []],
  ])('for %j %j', (typed, found) => {
    expect(matching(ENTRIES, typed).map(({ text }) => text)).toEqual(found);
  });
});

test.each([
  [{ status: 500, requestId: 'req_1' }, 'req_1'],
  [{ status: 503, requestId: null }, null],
  [{ status: 409, requestId: 'req_1' }, null],
  [{}, null],
])('a fault of %j is reported by the id %j', (told, id) => {
  expect(new Fault('It failed.', told).reportId).toBe(id);
  expect(new Fault('Tell the admin the request id req_1.', told).reportId).toBeNull();
});

const JOB = '01JZZZZZZZZZZZZZZZZZZZZZZZ';

test.each([
  ['req_0123456789abcdefABCD', ['/usage/req_0123456789abcdefABCD']],
  [` ${JOB} `, [`/jobs/${JOB}`, `/batches/${JOB}`]],
  [`${JOB}.2`, [`/usage/${JOB}.2`]],
  ['req_0123', []],
  ['../../admin', []],
])('the palette opens what has the id %j: %j', (typed, opened) => {
  expect(byId(typed).map(({ opens }) => opens)).toEqual(opened);
});

type Seen = Parameters<typeof newNotices>[0];

function seen(statuses: Readonly<Record<string, string>>, more: Partial<Seen> = {}): Seen {
  const jobs = Object.entries(statuses).map(([id, status]) => ({
    id,
    status,
    model: 'tiny',
    created: id === 'old' ? 1 : 2,
    batch_id: id.startsWith('b') ? 'batch' : null,
  }));
  return { jobs: jobs as unknown as Seen['jobs'], batches: [], notices: [], ...more };
}

function batch(processed: number): Seen['batches'][number] {
  const counts = { queued: 2 - processed, processing: 0, processed, failed: 0, canceled: 0 };
  const status = processed === 2 ? 'DONE' : 'PROCESSING';
  return {
    id: 'b1',
    object: 'service.batch',
    label: 'night',
    status,
    total: 2,
    created: 1,
    ...counts,
  };
}

const OFFLINE = {
  kind: 'provider_offline',
  text: 'den-pc is offline.',
  href: '/providers/p',
} as const;

function near(used: number, period: 'day' | 'month' = 'day') {
  const until = `until 2026-12-0${period === 'day' ? 1 : 2}T00:00:00.000Z`;
  const text = `You have used ${used} of your 100 requests of this ${period}, ${until}.`;
  return { kind: 'quota_near', text, href: '/usage' } as const;
}

describe('a notification tells', () => {
  test.each<[string, Seen, Seen, readonly string[]]>([
    ['one job that ended', seen({ j: 'PROCESSING' }), seen({ j: 'PROCESSED' }), ['Job done']],
    ['its failure', seen({ j: 'QUEUED' }), seen({ j: 'FAILED' }), ['Job failed']],
    [
      'several jobs as one',
      seen({ j: 'QUEUED', k: 'PROCESSING' }),
      seen({ j: 'FAILED', k: 'PROCESSED' }),
      ['2 jobs ended'],
    ],
    ['a job that is new and has ended', seen({}), seen({ j: 'PROCESSED' }), ['Job done']],
    ['nothing of a job that ended before', seen({ j: 'FAILED' }), seen({ j: 'FAILED' }), []],
    [
      'nothing of an older job that is listed again',
      seen({ k: 'FAILED' }, {}),
      seen({ k: 'FAILED', old: 'FAILED' }),
      [],
    ],
    ['nothing of a job of a batch', seen({ b: 'QUEUED' }), seen({ b: 'PROCESSED' }), []],
    [
      'a batch, once all of it has ended',
      seen({}, { batches: [batch(1)] }),
      seen({}, { batches: [batch(2)] }),
      ['Batch ended'],
    ],
    ['a new notice', seen({}), seen({}, { notices: [OFFLINE] }), ['Needs attention']],
    ['a notice once', seen({}, { notices: [OFFLINE] }), seen({}, { notices: [OFFLINE] }), []],
    ['a limit that is near', seen({}), seen({}, { notices: [near(80)] }), ['Needs attention']],
    ['it once', seen({}, { notices: [near(80)] }), seen({}, { notices: [near(81)] }), []],
    [
      'another limit, too',
      seen({}, { notices: [near(80)] }),
      seen({}, { notices: [near(80, 'month'), near(81)] }),
      ['Needs attention'],
    ],
  ])('%s', (...[, before, now, titles]) => {
    expect(newNotices(before, now).map(({ title }) => title)).toEqual(titles);
  });
});

let gateway: TestGateway;
let browser: TestBrowser;
let fake: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  fake = await startFakeOpenAi();
  await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
  browser = await openBrowser(gateway);
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await fake.close();
});

test('screens, models and actions are reached by the keyboard alone', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const heading = page.locator('main h1');
  const field = page.getByRole('combobox', { name: 'Go to' });
  const option = (name: RegExp) => page.getByRole('option', { name });
  await page.goto('/queue');
  await heading.waitFor();
  // The keys work once their file is loaded, after the first screen.
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('Control+k');
  await field.fill('tiny');
  await option(/tiny.*Chat model/).waitFor();
  await expectSound(page, 'palette');
  await field.fill('token');
  // The screen and the action have the word; the second is one key away.
  await option(/API keys/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/settings/token');
  await page.keyboard.press('Control+k');
  await field.fill('create api');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  for (const [typed, found] of [
    ['transcribe', /Playground: Transcribe.*Screen/],
    ['errors', /Docs: Errors.*Screen/],
    ['passkey', /Security.*Screen/],
    ['invite', /Invite and share.*Action/],
  ] as const) {
    await field.fill(typed);
    await option(found).waitFor();
  }
  await field.fill('nothing at all');
  await page.getByText('Nothing here has that name.').waitFor();
  await field.fill('req_0123456789abcdefABCD');
  await option(/^req_0123456789abcdefABCD Request$/).waitFor();
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await expectSound(page, 'shortcuts');
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('m');
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await page.getByLabel('Search').waitFor();
  await page.keyboard.press('/');
  // In a field the same keys are letters.
  await page.keyboard.type('gj');
  expect(await page.getByLabel('Search').inputValue()).toBe('gj');
  await page.keyboard.press('Control+k');
  await field.fill('log out');
  await page.keyboard.press('Enter');
  await page.locator('input[type=password]').waitFor();
});

test('what is typed for the palette before its file has come is in its field', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  const release = await holdBack(page, '**/assets/palette-*.js');
  await page.goto('/queue');
  await page.locator('main h1').waitFor();
  await page.waitForLoadState('networkidle');
  await page.keyboard.press('Control+k');
  // Not a shortcut: its `g` and `m` would open Models.
  await page.keyboard.type('gm?');
  release();
  const field = page.getByRole('combobox', { name: 'Go to' });
  await field.waitFor();
  await page.keyboard.type('!');
  expect(await field.inputValue()).toBe('gm?!');
  expect(new URL(page.url()).pathname).toBe('/queue');
});

test('single keys can be switched off, and stay so after a reload', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  await page.goto('/settings/appearance');
  const choice = page.getByRole('group', { name: 'Keyboard shortcuts of a single key' });
  await choice.getByText('Off', { exact: true }).click();
  await page.reload();
  await page.waitForLoadState('networkidle');
  await page.locator('main h1').focus();
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Go to' }).waitFor();
  expect(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count()).toBe(0);
});

test('the page can be installed as an app', async () => {
  const page = await (await fetch(gateway.address, { headers: { accept: 'text/html' } })).text();
  const href = /rel="manifest" href="([^"]+)"/.exec(page)?.[1] ?? '';
  const answer = await fetch(new URL(href, gateway.address));
  expect(answer.headers.get('content-type')).toBe('application/manifest+json');
  const manifest = (await answer.json()) as { start_url: string; icons: { src: string }[] };
  expect(manifest.start_url).toBe('/');
  for (const { src } of manifest.icons) {
    expect((await fetch(new URL(src, gateway.address))).headers.get('content-type')).toMatch(
      /^image/,
    );
  }
});

test('the feed is well-formed XML, whatever its events name', async () => {
  const page = await browser.newPage();
  const title = '<script>&"\u0000\u0008\ud800]]></title>\u{1f600}';
  const event = { id: 'a&b', title, text: '\u001b <b>', at: 1, path: '/x?a=1&b=2' };
  const parsed = (events: readonly (typeof event)[]) => {
    const xml = writeFeed({
      events,
      memberId: 'm',
      origin: 'http://localhost',
      madeAt: 86_400_000,
    });
    return page.evaluate<string[]>(`
      const xml = new DOMParser().parseFromString(${JSON.stringify(xml)}, 'application/xml');
      [xml.documentElement, ...xml.querySelectorAll('title, updated, link')].map(
        (one) => one.localName + ' ' + (one.getAttribute('href') ?? one.textContent))`);
  };
  const [feed, ...parts] = await parsed([event]);
  expect(feed).toMatch(/^feed /);
  expect(parts).toEqual([
    'title Inference Gateway',
    'updated 1970-01-01T00:00:00.001Z',
    'link http://localhost/',
    'title <script>&"\ufffd]]></title>\u{1f600}',
    'updated 1970-01-01T00:00:00.001Z',
    'link http://localhost/x?a=1&b=2',
  ]);
  const empty = ['title Inference Gateway', 'updated 1970-01-02T00:00:00.000Z'];
  expect((await parsed([])).slice(1)).toEqual([...empty, 'link http://localhost/']);
});

test('a hidden page tells of a job that has ended, once the browser permits it', async () => {
  const page = await browser.newPage();
  await logIn(page, gateway, gateway.anna);
  // Chromium without a window shows no notifications: the page's calls for them are recorded.
  await page.addInitScript(`
    globalThis.told = [];
    globalThis.Notification = class extends EventTarget {
      static permission = 'default';
      static async requestPermission() { return (this.permission = 'granted'); }
      constructor(title, { body }) { super(); told.push(title + ': ' + body); }
    };`);
  await page.goto('/settings/notifications');
  const choice = page.getByRole('group', { name: 'Notifications' });
  const looked = page.waitForResponse(/\/jobs\?limit=100/);
  await choice.getByText('On', { exact: true }).click();
  await looked;
  await page.evaluate(`Object.defineProperty(document, 'hidden', { get: () => true })`);
  await submitted(gateway, { model: 'tiny' });
  await until(async () => (await page.evaluate<number>('told.length')) > 0);
  expect(await page.evaluate('told')).toEqual(['Job done: tiny']);
});
