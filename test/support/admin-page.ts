/** Admin in the browser: how its lists are worked. */
import type { Page } from 'playwright-core';

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

/** The same with a confirmation, whose button has the text of the menu. */
export async function confirm(page: Page, name: string, action: string): Promise<void> {
  await choose(page, name, `${action}…`);
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
