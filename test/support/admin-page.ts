/** Works the lists of Admin in the browser. */
import type { Page } from 'playwright-core';

export function rowOf(page: Page, text: RegExp) {
  return page.getByRole('row', { name: text });
}

export function press(page: Page, name: string): Promise<void> {
  return page.getByRole('button', { name, exact: true }).click();
}

/** Selects an action in the menu of one row. */
export async function choose(page: Page, name: string, action: string): Promise<void> {
  await page.getByLabel(`Actions for ${name}`, { exact: true }).click();
  await press(page, action);
}

/** Like `choose`, but the action asks for confirmation; its button has the menu's text. */
export async function confirm(page: Page, name: string, action: string): Promise<void> {
  await choose(page, name, `${action}…`);
  await page.getByRole('dialog').getByRole('button', { name: action, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}
