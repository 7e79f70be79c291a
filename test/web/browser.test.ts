/** The browser's checks detect faults: a blind check would let every screen pass. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFirefox, onEveryLook, openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { expectAccessible, expectNoSideways } from '../support/page-checks.js';
import { expectProblem, watchPage } from '../support/page-problems.js';
import { until } from '../support/until.js';

const GOOD = '<main><h1>Hello</h1><p>Read me.</p></main>';

const ICON = '<link rel="icon" href="data:,">';
const POLICY = "default-src 'self'; style-src 'unsafe-inline'; img-src data:";
/** How the reasons begin that a browser gives for a failed request. */
const BROKEN = isFirefox ? 'NS_ERROR_' : 'net::ERR_';

let server: Server;
let browser: TestBrowser;

beforeAll(async () => {
  server = createServer((request, response) => {
    const body = new URL(request.url ?? '', 'http://x').searchParams.get('body');
    response.setHeader('content-security-policy', POLICY);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.url === '/broken') request.socket.destroy();
    else if (body === null) response.writeHead(404).end();
    else response.end(`<!doctype html><html lang="en"><title>x</title>${ICON}${body}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  browser = await openBrowser({ address: `http://127.0.0.1:${port}` });
});

afterAll(async () => {
  await browser.close();
  server.close();
});

async function show(page: Page, body: string): Promise<void> {
  await page.goto(`/?body=${encodeURIComponent(body)}`);
}

test('a page without a fault passes in every look, and each is another', async () => {
  const page = await browser.newPage();
  await show(page, GOOD);
  const looks: unknown[] = [];
  await onEveryLook(page, async () => {
    await expectAccessible(page);
    await expectNoSideways(page);
    looks.push(
      await page.evaluate(
        `innerWidth + (matchMedia('(prefers-color-scheme: dark)').matches ? 'd' : 'l')`,
      ),
    );
  });
  expect(looks).toEqual(['1440l', '1440d', '360d', '360l']);
});

test.each([
  ['an error on the console', `console.error('oh dear')`, 'oh dear'],
  ['an uncaught error', `setTimeout(() => { throw new Error('no hope'); })`, 'no hope'],
  ['a promise nobody waits for', `void Promise.reject(new Error('no word'))`, 'no word'],
  ['an answer that is an error', `fetch('/none')`, '404'],
  ['a request that breaks', `fetch('/broken').catch(() => {})`, `/broken: ${BROKEN}`],
  [
    'a script inside the page',
    `document.body.append(Object.assign(document.createElement('script'), { textContent: '1' }))`,
    'CSP violation script-src-elem inline',
  ],
])('%s is reported', async (_, code, told) => {
  const page = await browser.newPage();
  const problems = await watchPage(page);
  await show(page, GOOD);
  problems.judge();
  await page.evaluate(`{ ${code}; }`);
  const reported = await until(() => faultOf(problems));
  expect(reported).toContain('The page reported:');
  expect(await until(() => faultOf(problems).includes(told))).toBe(true);
  // What is expected is no fault, also for the watch that the page began with.
  expectProblem(page, /./);
  problems.judge();
});

function faultOf(problems: Awaited<ReturnType<typeof watchPage>>): string {
  try {
    problems.judge();
    return '';
  } catch (error) {
    return String(error);
  }
}

test('what sticks out is named, and what scrolls by itself does not stick out', async () => {
  const page = await browser.newPage({ width: 360 });
  await show(page, `${GOOD}<div style="overflow: auto"><p style="width: 900px">wide</p></div>`);
  await expectNoSideways(page);
  await show(page, `${GOOD}<p id="wide" style="width: 900px">wide</p>`);
  await expect(expectNoSideways(page)).rejects.toThrow('id="wide"');
});

test('what cannot be read or used is named', async () => {
  const page = await browser.newPage();
  await show(
    page,
    `<main><h1>Hi</h1><p id="pale" style="color: #aaa">pale</p><button></button></main>`,
  );
  const found = expect(expectAccessible(page)).rejects;
  await found.toThrow(/button-name[^]+#pale/);
});
