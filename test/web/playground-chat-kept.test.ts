/** Chats that the browser keeps: over reloads, between tabs, in files, and after a log-out. */
import { EventEmitter, once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryLook } from '../support/browser.js';
import { hangAfterHeaders, stream } from '../support/fake-behaviours.js';
import { expectAccessible, expectNoSideways, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn } from '../support/page-session.js';
import { answerOf, openPlayground, say, sent } from '../support/playground.js';
import type { Playground } from '../support/playground.js';
import { until } from '../support/until.js';

let playground: Playground;

beforeAll(async () => {
  playground = await openPlayground();
});

afterAll(() => playground.close());

/** The rows of the list, without their times. */
async function listed(page: Page): Promise<readonly string[]> {
  return page.locator('.chat-row > span:first-child').allTextContents();
}

function menuOf(page: Page, title: string) {
  return page.getByLabel(`Actions for ${title}`);
}

async function inspect(page: Page, name: string): Promise<void> {
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `${name}-${width}-${theme}`);
  });
}

function files(buffer: Buffer) {
  return [{ name: 'chats.json', mimeType: 'application/json', buffer }];
}

/** Whether the browser has stored this text in a chat. */
function isStored(page: Page, text: string): Promise<boolean> {
  return page.evaluate(`(async () => {
    const answered = (request) =>
      new Promise((done) => request.addEventListener('success', () => done(request.result)));
    for (const { name } of await indexedDB.databases()) {
      const database = await answered(indexedDB.open(name));
      const chats = await answered(database.transaction('chats').objectStore('chats').getAll());
      database.close();
      if (JSON.stringify(chats).includes(${JSON.stringify(text)})) return true;
    }
    return false;
  })()`);
}

test('chats are kept, listed, found, renamed, exported, deleted, and imported again', async () => {
  const page = await playground.open('chat');
  await sent(page, 'First question');
  await page.getByRole('link', { name: 'Image' }).click();
  await page.getByRole('link', { name: 'Chat' }).click();
  await answerOf(page, 'tiny').getByText('Hello from the fake.').waitFor();
  await page.getByRole('button', { name: 'New chat' }).click();
  await sent(page, 'Second question');
  await page.getByRole('textbox', { name: 'Message' }).fill('A draft');
  await until(() => isStored(page, 'A draft'));
  await page.reload();
  await answerOf(page, 'tiny').getByText('Hello from the fake.').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('A draft');
  expect(await listed(page)).toEqual(['Second question', 'First question']);
  await page.getByLabel('Search chats').fill('FIRST');
  await until(async () => (await listed(page)).length === 1);
  await page.getByRole('button', { name: 'First question' }).first().click();
  await page.getByRole('article').getByText('First question').waitFor();
  await page.getByLabel('Search chats').fill('');
  await menuOf(page, 'First question').click();
  await page.getByRole('button', { name: 'Rename…' }).click();
  await page.getByLabel('Title').fill('Renamed');
  await page.getByRole('button', { name: 'Rename', exact: true }).click();
  await until(async () => (await listed(page)).includes('Renamed'));
  await inspect(page, 'playground-chats');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export all' }).click();
  const file = await readFile(await (await download).path());
  for (const title of ['Renamed', 'Second question']) {
    await menuOf(page, title).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
  }
  await page.getByText('None yet.').waitFor();
  await page.getByText('No messages yet.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.getByRole('article').getByText('Second question').waitFor();
  await page.getByLabel('File of chats').setInputFiles(files(Buffer.from('{"format":1}')));
  await page.getByText('"format" is 1; an export of chats has').waitFor();
  await page.getByLabel('File of chats').setInputFiles(files(file));
  await page.getByText('2 chats imported.').waitFor();
  await until(async () => (await listed(page)).length === 3);
  expect((await listed(page)).toSorted()).toEqual([
    'Renamed',
    'Second question',
    'Second question',
  ]);
});

/** A disk that takes longer than the next reload. */
function stallDisk(page: Page): Promise<unknown> {
  return page.evaluate(`IDBObjectStore.prototype.put = () => { throw new Error(); }`);
}

test('what was typed is there after a reload at once, before it is in the database', async () => {
  const page = await playground.open('chat');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.waitFor();
  await stallDisk(page);
  await box.fill('Of a new chat');
  await page.reload();
  await until(async () => (await box.inputValue()) === 'Of a new chat');
  await sent(page, 'A kept chat');
  await box.fill('A draft');
  await until(() => isStored(page, 'A draft'));
  await stallDisk(page);
  await box.fill('A draft that goes on');
  await page.reload();
  await until(async () => (await box.inputValue()) === 'A draft that goes on');
  await page.getByRole('article').getByText('A kept chat').waitFor();
  // It is stored now, and comes back from there alone.
  await until(() => isStored(page, 'A draft that goes on'));
  await box.fill('');
  await until(async () => !(await isStored(page, 'A draft that goes on')));
  await page.reload();
  await page.getByRole('article').getByText('A kept chat').waitFor();
  expect(await box.inputValue()).toBe('');
});

test('a message sent just before a reload is kept, in a new chat and in a kept one', async () => {
  const page = await playground.open('chat');
  const messages = page.getByRole('article');
  await page.getByLabel('System prompt').fill('Be short.');
  await stallDisk(page);
  playground.llm.once(hangAfterHeaders());
  await say(page, 'First, and gone');
  await messages.getByText('First, and gone').waitFor();
  await page.reload();
  await messages.getByText('First, and gone').waitFor();
  await answerOf(page, 'tiny').getByText('interrupted').waitFor();
  expect(await page.getByLabel('System prompt').inputValue()).toBe('Be short.');
  await until(() => isStored(page, 'First, and gone'));
  await stallDisk(page);
  playground.llm.once(hangAfterHeaders());
  await say(page, 'Second, and gone');
  await messages.getByText('Second, and gone').waitFor();
  await page.reload();
  await messages.nth(1).getByText('Second, and gone').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
  await until(() => isStored(page, 'Second, and gone'));
  // It is stored now, and comes back from there alone.
  await page.reload();
  await messages.nth(1).getByText('Second, and gone').waitFor();
  expect(await messages.count()).toBe(2);
});

test('a running answer goes on in the background, and is interrupted by a reload', async () => {
  const page = await playground.open('chat');
  playground.llm.once(hangAfterHeaders({ after: 3 }));
  await say(page, 'Go on for ever.');
  await answerOf(page, 'tiny').getByText('c0 c1 c2').waitFor();
  await page.getByRole('button', { name: 'New chat' }).click();
  await sent(page, 'Meanwhile');
  await page.getByRole('button', { name: 'Go on for ever.' }).first().click();
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  await until(() => isStored(page, 'c0 c1 c2'));
  await page.reload();
  await answerOf(page, 'tiny').getByText('interrupted').waitFor();
  await answerOf(page, 'tiny').getByText('c0 c1 c2').waitFor();
});

test('two tabs see each other’s changes, and keep what both have written', async () => {
  const page = await playground.open('chat');
  await sent(page, 'Together');
  const other = await page.context().newPage();
  other.setDefaultTimeout(5_000);
  await other.goto('/playground/chat');
  await other.getByRole('button', { name: 'Together' }).first().click();
  await answerOf(other, 'tiny').waitFor();
  const gate = new EventEmitter();
  const opened = once(gate, 'open');
  playground.llm.once(async (request, response) => {
    await opened;
    return stream(['late ', 'answer'])(request, response);
  });
  await say(page, 'From the first tab');
  await other.getByText('in another tab').waitFor();
  await other.getByRole('textbox', { name: 'Message' }).fill('From the second tab');
  await other.getByRole('button', { name: 'Delete the message' }).first().click();
  gate.emit('open');
  await answerOf(other, 'tiny').getByText('late answer').waitFor();
  await page.getByRole('article').getByText('Together').waitFor({ state: 'detached' });
  await until(
    async () =>
      (await page.getByRole('textbox', { name: 'Message' }).inputValue()) === 'From the second tab',
  );
  await answerOf(page, 'tiny').getByText('late answer').waitFor();
});

test('a log-out offers to erase the chats, and another member never sees them', async () => {
  const page = await playground.open('chat');
  await sent(page, 'A secret of Anna');
  await until(() => isStored(page, 'A secret of Anna'));
  expectProblem(page, /401/);
  await page.getByRole('button', { name: 'Log out' }).click();
  await inspect(page, 'log-out');
  await page.getByRole('button', { name: 'Keep and log out' }).click();
  await page.getByRole('textbox', { name: 'Password' }).waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  const { gateway } = playground;
  await logIn(page, gateway, gateway.ben);
  await page.goto('/playground/chat');
  await page.getByText('No model for chatting is online.').waitFor();
  expect(await page.getByText('A secret of Anna').count()).toBe(0);
  await logIn(page, gateway, gateway.anna);
  await page.goto('/playground/chat');
  await page.getByRole('button', { name: 'A secret of Anna' }).first().waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Erase and log out' }).click();
  await page.getByRole('textbox', { name: 'Password' }).waitFor();
  await until(async () => !(await isStored(page, 'A secret of Anna')));
});

test('without room in the browser, that is told, and the chat goes on in memory', async () => {
  const page = await playground.browser.newPage();
  page.setDefaultTimeout(5_000);
  await page.addInitScript(`IDBObjectStore.prototype.put = () => {
    throw new DOMException('full', 'QuotaExceededError');
  };`);
  await logIn(page, playground.gateway, playground.gateway.anna);
  await page.goto('/playground/chat');
  await sent(page, 'No room');
  await page.getByText('The browser has no more room.').waitFor();
  await sent(page, 'It goes on');
  await page.getByRole('button', { name: 'New chat' }).click();
  await page.getByText('No messages yet.').waitFor();
  await page.getByRole('button', { name: 'No room' }).first().click();
  await until(async () => (await page.getByRole('article').count()) === 2);
});

test('presets keep settings, and a link brings some, asks first and never sends', async () => {
  const page = await playground.open('chat');
  await page.getByLabel('System prompt').fill('Be short.');
  await page.getByLabel('Temperature').fill('0.2');
  await page.getByRole('button', { name: 'Save as preset…' }).click();
  await page.getByLabel('Name').fill('Brief');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Copy link' }).click();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  expect(link).toMatch(/\/playground\/chat\?model=tiny&temperature=0.2&system=Be\+short.$/);
  await page.getByRole('button', { name: 'Back to defaults' }).click();
  await page.getByLabel('Preset').selectOption('Brief');
  expect(await page.getByLabel('Temperature').inputValue()).toBe('0.2');
  await page.getByRole('button', { name: 'Delete preset' }).click();
  await page.getByLabel('Preset').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByLabel('Preset').waitFor();
  await page.getByRole('button', { name: 'Back to defaults' }).click();
  const from = playground.llm.requests.length;
  await page.goto(`${link}&top_p=7`);
  const dialog = page.getByRole('dialog', { name: 'This link brings settings' });
  await dialog.getByText('Be short.').waitFor();
  await dialog.getByText('Left out: Top p is "7"; write 0 to 1.').waitFor();
  await inspect(page, 'playground-link');
  expect(await page.getByLabel('System prompt').inputValue()).toBe('');
  await page.getByRole('button', { name: 'Begin a chat with them' }).click();
  await until(async () => (await page.getByLabel('System prompt').inputValue()) === 'Be short.');
  expect(page.url()).toMatch(/\/playground\/chat\?model=tiny$/);
  expect(playground.llm.requests.length).toBe(from);
});

const RICH = [
  'Inline $e^{i\\pi} + 1 = 0$, costs of $5 or $10, and',
  '$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$',
  '```python\ndef area(r):\n    return 3.14 * r ** 2  # "round"\n```',
  '| left | right |\n|:-----|------:|\n| a | 1 |',
].join('\n\n');

test('code is highlighted and formulas are drawn, under the page’s policy', async () => {
  const page = await playground.open('chat');
  const loaded = (part: string): Promise<boolean> =>
    page.evaluate(
      `performance.getEntriesByType('resource').some(({ name }) => name.includes('${part}'))`,
    );
  await sent(page, 'Plain');
  expect([await loaded('formula'), await loaded('highlight')]).toEqual([false, false]);
  playground.llm.once(stream([RICH]));
  await sent(page, 'Be rich.');
  const said = answerOf(page, 'tiny').last();
  await said.locator('.hljs-keyword', { hasText: 'def' }).waitFor();
  await until(async () => (await said.locator('.katex').count()) === 2);
  await said.getByText('costs of $5 or $10, and').waitFor();
  expect(await said.locator('td.align-right').textContent()).toBe('1');
  await until(() => page.evaluate<boolean>(`document.fonts.check('16px KaTeX_Main')`));
  await inspect(page, 'playground-rich');
});
