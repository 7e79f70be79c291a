/** Admin in the browser: how its lists are worked. */
import type { Page } from 'playwright-core';
import type { TestBrowser } from './browser.js';
import type { TestGateway } from './gateway.js';
import { logIn } from './page-session.js';
import type { WithPassword } from './page-session.js';

interface AdminStage {
  readonly gateway: TestGateway;
  readonly browser: TestBrowser;
  readonly admin: WithPassword;
}

export async function openAdmin(stage: AdminStage, path: string): Promise<Page> {
  const page = await stage.browser.newPage();
  await logIn(page, stage.gateway, stage.admin);
  await page.goto(path);
  await page.locator('main h1').waitFor();
  return page;
}

export function rowOf(page: Page, text: RegExp) {
  return page.getByRole('row', { name: text });
}

export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** From the menu of one row. */
export async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByLabel(`Actions for ${name}`, { exact: true }).click();
  await press(page, action);
}

/** The same where it asks first: its button says the same as the menu. */
export async function confirm(page: Page, name: string, action: string): Promise<void> {
  await choose(page, name, `${action}…`);
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
