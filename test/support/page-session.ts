/** Logs members in to the dashboard without the log-in page. */
import type { Page } from 'playwright-core';
import type { TestBrowser } from './browser.js';
import { givePassword, MEMBER_PASSWORD } from './gateway.js';
import type { TestGateway } from './gateway.js';

/** A member with `MEMBER_PASSWORD`, such as `gateway.anna` and `gateway.ben`. */
export interface WithPassword {
  readonly email: string;
}

/** Logs the page's browser in from its next request on, and replaces any earlier session. */
export async function logIn(page: Page, gateway: TestGateway, who: WithPassword): Promise<void> {
  const response = await fetch(`${gateway.address}/api/console/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.address },
    body: JSON.stringify({ email: who.email, password: MEMBER_PASSWORD }),
  });
  if (!response.ok) throw new Error(`${who.email} cannot log in: ${await response.text()}`);
  const [cookie = ''] = response.headers.getSetCookie();
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
  const rules = { httpOnly: true, sameSite: 'Lax' } as const;
  await page.context().addCookies([{ name, value, url: gateway.address, ...rules }]);
}

interface Stage {
  readonly gateway: TestGateway;
  readonly browser: TestBrowser;
}

/** A new page of this member's, once the screen at the path shows its heading. */
export async function openPage(stage: Stage, who: WithPassword, path: string): Promise<Page> {
  const page = await stage.browser.newPage();
  await logIn(page, stage.gateway, who);
  await page.goto(path);
  await page.locator('main h1').waitFor();
  return page;
}

/** Creates another member, with the admin role. */
export async function addAdmin(gateway: TestGateway, name = 'root'): Promise<WithPassword> {
  const email = `${name}@example.org`;
  await gateway.admin('user.create', { email, name, admin: true, password: null });
  givePassword(gateway, email);
  return { email };
}
