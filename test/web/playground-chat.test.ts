/** The chat of the playground, in a browser, with real agents before small model servers. */
import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onEveryLook } from '../support/browser.js';
import { errorEvent, hangAfterHeaders, stream } from '../support/fake-behaviours.js';
import type { Behaviour } from '../support/fake-model-server.js';
import { expectAccessible, expectNoSideways, shoot } from '../support/page-checks.js';
import { answerOf, openPlayground, say, sent } from '../support/playground.js';
import type { Playground } from '../support/playground.js';
import { until } from '../support/until.js';

let playground: Playground;

beforeAll(async () => {
  playground = await openPlayground();
});

afterAll(() => playground.close());

function bodies(): readonly Readonly<Record<string, unknown>>[] {
  return playground.llm.requests.map(({ body }) => body);
}

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

/** Sends a word, and the rest once it is released. */
function held(released: Promise<unknown>): Behaviour {
  return async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: 'First ' }));
    await released;
    response.write(chunk({ content: 'second' }));
    response.write(chunk({}, 'stop'));
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
    response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
    response.end('data: [DONE]\n\n');
  };
}

const thinking: Behaviour = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk({ role: 'assistant', content: '', reasoning_content: 'Hm, four.' }));
  response.write(chunk({ content: 'Four.' }));
  response.write(chunk({}, 'stop'));
  response.end('data: [DONE]\n\n');
};

const callingTools: Behaviour = (_request, response) => {
  const part = (fields: object): string => chunk({ tool_calls: [{ index: 0, ...fields }] });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const named = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{' } };
  response.write(part(named));
  response.write(part({ function: { arguments: '"city":"Bern"}' } }));
  response.write(chunk({}, 'tool_calls'));
  response.end('data: [DONE]\n\n');
};

test('a streamed chat is shown as it comes, with how it came about under it', async () => {
  const gate = new EventEmitter();
  playground.llm.once(held(once(gate, 'open')));
  const page = await playground.open('chat');
  await page
    .getByLabel('Model', { exact: true })
    .getByText('tiny · 4 of 4 slots free')
    .waitFor({ state: 'attached' });
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `playground-chat-new-${width}-${theme}`);
  });
  await page.setViewportSize({ width: 1440, height: 900 });
  await say(page, 'Count to two.');
  await answerOf(page, 'tiny').getByText('First', { exact: true }).waitFor();
  gate.emit('open');
  await answerOf(page, 'tiny').getByText('First second').waitFor();
  const facts = answerOf(page, 'tiny').getByLabel('Facts about this answer');
  await facts.getByText('den-pc').waitFor();
  const told = (await facts.textContent()) ?? '';
  expect(told).toMatch(/First token\d/);
  expect(told).toMatch(/Speed[\d.,]+ tokens\/s/);
  expect(told).toContain('2 + 5 prompt');
  expect(told).toMatch(/Queued\d+ ms/);
  expect(told).toMatch(/Requestreq_/);
  const meter = await page
    .getByRole('meter', { name: /^Rate limit/ })
    .getAttribute('aria-valuenow');
  expect(Number(meter)).toBe(999_999);
  expect(playground.llm.lastRequest.body).toMatchObject({ stream: true });
});

test('stop frees the GPU within a second', async () => {
  playground.llm.once(hangAfterHeaders({ after: 3 }));
  const page = await playground.open('chat');
  await say(page, 'Go on for ever.');
  await answerOf(page, 'tiny').getByText('c0 c1 c2').waitFor();
  const before = playground.llm.aborts.length;
  await page.getByRole('button', { name: 'Stop' }).click();
  await until(() => playground.llm.aborts.length > before, { timeoutMs: 1_000 });
  await answerOf(page, 'tiny').getByText('stopped').waitFor();
  await answerOf(page, 'tiny').getByText('c0 c1 c2').waitFor();
});

const HOSTILE = [
  '<script>document.title = "owned"</script>',
  '<img src=x onerror="document.title = \'owned\'">',
  '[press me](javascript:alert(1)) [go](https://example.org)',
  String.raw`$\href{javascript:alert(1)}{x}\htmlClass{a}{y}\includegraphics{https://a.org/x}$`,
  String.raw`$$\fcolorbox{red}{blue}{z}\pmb{p}\rule{999em}{999em}\hspace{-99em}\raisebox{9em}{u}$$`,
  String.raw`$\def\a{\a\a}\a$ and $${'{'.repeat(200)}x${'}'.repeat(200)}$`,
  `\`\`\`js\n${'(function(){'.repeat(3_000)}\n\`\`\``,
].join('\n\n');

test('what a model says stays text, whatever is in it', async () => {
  playground.llm.once(stream([HOSTILE]));
  const page = await playground.open('chat');
  await sent(page, 'Be hostile.');
  const said = answerOf(page, 'tiny');
  await said.getByText('<script>').waitFor();
  // Of the formulas, two are drawn; one expands without end, and one nests too deep.
  await until(async () => (await said.locator('.katex').count()) === 2);
  await said.getByText(String.raw`$\def\a{\a\a}\a$`).waitFor();
  await said.getByText('go', { exact: true }).waitFor();
  expect(await said.locator('script, img, iframe').count()).toBe(0);
  // The other one is of the page: it leads to the request.
  const links = said.locator('a:not([href^="/usage/req_"])');
  expect(await links.count()).toBe(1);
  expect(await links.getAttribute('rel')).toContain('noreferrer');
  expect(await page.title()).toContain('Playground');
});

test('what a model thinks is folded away, and a new chat forgets it', async () => {
  playground.llm.once(thinking);
  const page = await playground.open('chat');
  await sent(page, 'Two and two?');
  const said = answerOf(page, 'tiny');
  await said.getByText('Four.', { exact: true }).waitFor();
  expect(await said.getByText('Hm, four.').isVisible()).toBe(false);
  await said.getByText('Reasoning').click();
  await said.getByText('Hm, four.').waitFor();
  await page.getByRole('button', { name: 'New chat' }).click();
  await page.getByText('No messages yet.').waitFor();
});

test('two models answer one prompt beside each other, each with its own numbers', async () => {
  const page = await playground.open('chat');
  await page.getByRole('button', { name: 'Compare two' }).click();
  await page.getByLabel('Second model').getByText('sees').waitFor({ state: 'attached' });
  const from = playground.llm.requests.length;
  await say(page, 'Who are you?');
  for (const model of ['tiny', 'sees']) {
    await answerOf(page, model).getByText('Hello from the fake.').waitFor();
    await answerOf(page, model).getByText('den-pc').waitFor();
  }
  const asked = bodies().slice(from);
  expect(new Set(asked.map(({ model }) => model))).toEqual(new Set(['tiny', 'sees']));
  expect(asked.map(({ messages }) => messages)).toEqual(
    Array.from({ length: 2 }, () => [{ role: 'user', content: 'Who are you?' }]),
  );
  await onEveryLook(page, async ({ width, theme }) => {
    await expectNoSideways(page);
    await expectAccessible(page);
    await shoot(page, `playground-chat-two-${width}-${theme}`);
  });
});

test('edits and new answers are branches, and a deleted message comes back', async () => {
  const page = await playground.open('chat');
  await sent(page, 'One');
  await sent(page, 'Two');
  expect(playground.llm.lastRequest.body['messages']).toMatchObject([
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Hello from the fake.' },
    { role: 'user', content: 'Two' },
  ]);
  const messages = page.getByRole('article');
  const versions = page.getByRole('group', { name: 'Versions of this message' });
  await page.getByRole('button', { name: 'Edit and resend' }).first().click();
  await page.getByRole('textbox', { name: 'Edited message' }).fill('Uno');
  const from = playground.llm.requests.length;
  await page.getByRole('button', { name: 'Send again' }).click();
  await versions.getByText('2 / 2').waitFor();
  await until(() => playground.llm.requests.length > from);
  expect(playground.llm.lastRequest.body['messages']).toEqual([{ role: 'user', content: 'Uno' }]);
  expect(await messages.count()).toBe(1);
  await page.getByRole('button', { name: 'Regenerate' }).click();
  await versions.getByText('3 / 3').waitFor();
  await until(() => playground.llm.requests.length > from + 1);
  expect(playground.llm.lastRequest.body['messages']).toEqual([{ role: 'user', content: 'Uno' }]);
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await versions.getByRole('button', { name: 'Previous version' }).click();
  await versions.getByText('1 / 3').waitFor();
  expect(await messages.count()).toBe(2);
  await page.getByRole('button', { name: 'Delete the message' }).last().click();
  await messages.nth(1).waitFor({ state: 'detached' });
  await expectAccessible(page);
  await shoot(page, 'playground-branches');
  await page.getByRole('button', { name: 'Undo' }).click();
  await messages.nth(1).getByText('Two').waitFor();
});

test('a failed answer is tried again in its place, and calls of tools are shown', async () => {
  playground.llm.once(errorEvent('the card is out of memory'));
  const page = await playground.open('chat');
  await say(page, 'Fail first.');
  const fault = answerOf(page, 'tiny').getByRole('alert');
  const request = fault.getByRole('link', { name: /^req_/ });
  const id = await request.textContent();
  expect(await request.getAttribute('href')).toBe(`/usage/${id}`);
  // The row of facts under the error does not repeat it.
  expect(
    await answerOf(page, 'tiny')
      .getByText(id ?? '', { exact: true })
      .count(),
  ).toBe(1);
  await answerOf(page, 'tiny').getByText('Total').waitFor();
  playground.llm.once(callingTools);
  await answerOf(page, 'tiny').getByRole('button', { name: 'Try again' }).click();
  const call = answerOf(page, 'tiny').getByText('Tool call: weather');
  await call.click();
  await answerOf(page, 'tiny').getByText('"city": "Bern"').waitFor();
  expect(await page.getByRole('group', { name: 'Versions of this message' }).count()).toBe(0);
});

test('the system prompt and the parameters that are set go with each request', async () => {
  const page = await playground.open('chat');
  await page.getByLabel('System prompt').fill('Be short.');
  await page.getByLabel('Temperature').fill('0.2');
  await page.getByLabel('Max tokens').fill('64');
  await page.getByLabel('Presence penalty').fill('-1');
  await page.getByLabel('Stop', { exact: true }).fill('END\nHALT');
  await sent(page, 'Hello');
  const { body } = playground.llm.lastRequest;
  expect(body).toMatchObject({ temperature: 0.2, max_tokens: 64, presence_penalty: -1 });
  expect(body).toMatchObject({ stop: ['END', 'HALT'] });
  expect(body).not.toHaveProperty('top_p');
  expect(body['messages']).toEqual([
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'Hello' },
  ]);
});
