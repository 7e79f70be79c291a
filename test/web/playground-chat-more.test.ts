/** The chat of the playground with pictures, as a job, by the keyboard alone, and in vain. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryLook } from '../support/browser.js';
import { errorEvent } from '../support/fake-behaviours.js';
import { expectAccessible, expectNoSideways, shoot } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { logIn } from '../support/page-session.js';
import { picture } from '../support/pictures.js';
import { answerOf, openPlayground, say, sent } from '../support/playground.js';
import type { Playground } from '../support/playground.js';
import { refuseUntilRetry } from '../support/refused-requests.js';

let playground: Playground;

beforeAll(async () => {
  playground = await openPlayground();
});

afterAll(() => playground.close());

test('a picture goes to a model that reads pictures, as data, and to no other', async () => {
  const page = await playground.open('chat');
  await page.getByText('This model reads text only.').waitFor();
  await page.getByLabel('Model', { exact: true }).selectOption('sees');
  const files = [{ name: 'cat.png', mimeType: 'image/png', buffer: picture() }];
  await page.getByLabel('Pictures').setInputFiles(files);
  await page.getByRole('img', { name: 'cat.png' }).waitFor();
  await page.evaluate(pasteAndDrop(picture()));
  await page.getByRole('button', { name: 'Remove pasted.png' }).first().click();
  await page.getByRole('button', { name: 'Remove pasted.png' }).click();
  await sent(page, 'What is this?', 'sees');
  expect(playground.llm.lastRequest.body['messages']).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        {
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${picture().toString('base64')}` },
        },
      ],
    },
  ]);
});

/** Puts a picture into the message by the clipboard, and one more by the mouse. */
function pasteAndDrop(png: Buffer): string {
  return `(() => {
    const bytes = Uint8Array.from(atob('${png.toString('base64')}'), (one) => one.charCodeAt(0));
    const data = new DataTransfer();
    data.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    const kept = { bubbles: true, cancelable: true };
    const form = document.querySelector('.composer');
    form.querySelector('textarea')
      .dispatchEvent(new ClipboardEvent('paste', { ...kept, clipboardData: data }));
    form.dispatchEvent(new DragEvent('drop', { ...kept, dataTransfer: data }));
  })()`;
}

test('what fails is told in the words of the API, with what to do next', async () => {
  const page = await playground.open('chat');
  playground.llm.once(errorEvent('the card is out of memory'));
  await say(page, 'Fail late.');
  await answerOf(page, 'tiny').getByRole('alert').getByText('out of memory').waitFor();
  await page.getByRole('button', { name: 'New chat' }).click();
  expectProblem(page, /404/);
  await page.goto('/playground?model=nowhere');
  await say(page, 'Is anybody there?');
  const alert = answerOf(page, 'nowhere').getByRole('alert');
  await alert.getByText('model_not_found').waitFor();
  await alert.getByRole('link', { name: 'See which models are online' }).waitFor();
  await expectAccessible(page);
  await shoot(page, 'playground-chat-fault');
});

test('a request too many is told, and when the next one may be sent', async () => {
  const { gateway } = playground;
  const page = await playground.open('chat');
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
  // The other tests have used up more than that within this minute.
  await gateway.admin('limit.set', { member: gateway.anna.email, requests: 1 });
  expectProblem(page, /429/);
  await say(page, 'One too many?');
  const alert = page.getByRole('alert').last();
  await alert.getByText(/Try again in \d+ seconds/).waitFor();
  await alert.getByText(/Again in \d+ s|You can try again now/).waitFor();
  await page.locator('[role="meter"][aria-valuenow="0"]').waitFor();
  await gateway.admin('limit.clear', { member: gateway.anna.email });
});

test('the code drawer has the exact request, which as a job is queued and opened', async () => {
  const page = await playground.open('chat');
  await page.getByLabel('Temperature').fill('0.5');
  await page.getByRole('textbox', { name: 'Message' }).fill('It’s me');
  await page.getByRole('button', { name: 'Code' }).click();
  const code = page.getByRole('dialog').locator('pre');
  await code.getByText('Bearer $GATEWAY_KEY').waitFor();
  const text = (await code.textContent()) ?? '';
  expect(text).toContain(`${playground.gateway.baseUrl}/chat/completions`);
  expect(text).toContain('"temperature": 0.5');
  expect(text).toContain('It’s me');
  await page.getByText('Python', { exact: true }).click();
  await code.getByText('from openai import OpenAI').waitFor();
  await expectAccessible(page);
  await shoot(page, 'playground-code');
  await page.getByRole('button', { name: 'Close' }).click();
  await page.getByLabel('Run as a job (async)').check();
  await page.getByRole('button', { name: 'Submit the job' }).click();
  await page.waitForURL(/\/jobs\/[\w-]+$/);
  const id = page.url().split('/').at(-1);
  const job = await (await playground.gateway.fetch(`/v1/jobs/${id}`)).json();
  expect(job).toMatchObject({ id, inference_type: 'LLM', model: 'tiny' });
});

test('the chat is had by the keyboard alone', async () => {
  const page = await playground.open('chat');
  const box = page.getByRole('textbox', { name: 'Message' });
  await box.waitFor();
  await page.getByRole('heading', { name: 'Playground' }).focus();
  for (let i = 0; i < 20; i++) {
    if (await page.evaluate<boolean>(`document.activeElement.tagName === 'TEXTAREA'`)) break;
    await page.keyboard.press('Tab');
  }
  await page.keyboard.type('Line one');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('line two');
  await page.keyboard.press('Enter');
  await answerOf(page, 'tiny').getByText('den-pc').waitFor();
  const [asked] = playground.llm.lastRequest.body['messages'] as { content: string }[];
  expect(asked?.content).toBe('Line one\nline two');
});

test('where no model is online, the page leads to one', async () => {
  const page = await playground.openEmpty('chat');
  await page.getByText('No model for chatting is online.').waitFor();
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `playground-empty-${width}-${theme}`);
  });
  const main = page.getByRole('main');
  await main.getByRole('link', { name: 'Network' }).waitFor();
  await main.getByRole('link', { name: 'Providers' }).click();
  await page.waitForURL(/\/providers$/);
});

test('where the models cannot be asked for, that is said, and asked again', async () => {
  const page = await playground.browser.newPage();
  await logIn(page, playground.gateway, playground.gateway.anna);
  await refuseUntilRetry(page, '**/api/console/v1/models', 'Not now.');
  await page.goto('/playground');
  await page.getByText('This could not be loaded.').waitFor();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
});
