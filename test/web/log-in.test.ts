/** Ways to log in besides the password: passkeys, an OpenID provider, a link of an admin. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MEMORY_MS } from '@inference-gateway/coordinator/core/access/log-in-throttle';
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SAME_ORIGIN } from '../api/account-calls.js';
import { failureOf } from '../api/requests.js';
import { choose, press } from '../support/admin-page.js';
import { isFirefox, openBrowser } from '../support/browser.js';
import type { TestBrowser } from '../support/browser.js';
import { MEMBER_PASSWORD, openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { CLIENT, startProvider } from '../support/open-id.js';
import type { TestProvider } from '../support/open-id.js';
import { expectDocumented } from '../support/openapi.js';
import { expectSound } from '../support/page-checks.js';
import { expectProblem } from '../support/page-problems.js';
import { addAdmin } from '../support/page-session.js';
import { freePort } from '../support/process-gateway.js';

const BY_PASSKEY = '/api/console/v1/session/passkey';
const CHALLENGE = '/api/console/v1/passkey/challenge';
const MINUTE_MS = 60_000;
const NO_AUTHENTICATOR = 'only Chromium has a virtual one';

let gateway: TestGateway;
let provider: TestProvider;
let browser: TestBrowser;
/** With a name, which passkeys need. */
let site: string;
let aheadMs = 0;

beforeAll(async () => {
  const port = await freePort();
  site = `http://localhost:${port}`;
  provider = await startProvider(site);
  gateway = await openGateway({
    port,
    publicUrl: site,
    clock: {
      ...SYSTEM_CLOCK,
      now: () => SYSTEM_CLOCK.now() + aheadMs,
      steady: () => SYSTEM_CLOCK.steady() + aheadMs,
    },
    oidcIssuer: provider.issuer,
    oidcClientId: CLIENT.id,
    oidcClientSecret: CLIENT.secret,
    oidcName: 'Example ID',
    oidcDomains: ['home.example'],
  });
  browser = await openBrowser({ address: site });
});

afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await provider.close();
});

/** Of somebody who is not logged in: each page begins by asking who they are. */
async function stranger(path: string): Promise<Page> {
  const page = await browser.newPage();
  // After a log-out, a question of the page may be on its way.
  expectProblem(page, /401.*\/(session|my\/)/);
  await page.goto(path);
  return page;
}

async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail', { exact: true }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(MEMBER_PASSWORD);
  await press(page, 'Log in');
}

async function logOut(page: Page): Promise<void> {
  await page.locator('.sidebar-foot').getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
}

/** A device with a fingerprint reader, which always recognizes its owner. */
async function addAuthenticator(page: Page): Promise<{ cdp: CDPSession; id: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  });
  return { cdp, id };
}

async function send(path: string, body: string): Promise<Response> {
  const headers = { ...SAME_ORIGIN, 'content-type': 'application/json' };
  const response = await fetch(`${gateway.address}${path}`, { method: 'POST', headers, body });
  await expectDocumented(path, 'POST', response);
  return response;
}

test('a passkey is added, renamed, logs in once for each challenge, and is deleted', async ({
  skip,
}) => {
  skip(isFirefox, NO_AUTHENTICATOR);
  const page = await stranger('/settings/security');
  const { cdp, id } = await addAuthenticator(page);
  await logIn(page, gateway.anna.email);
  await page.getByText('With a passkey you log in by your fingerprint').waitFor();
  await expectSound(page, 'security-no-passkey');
  await press(page, 'Add a passkey');
  await page.getByLabel('Name', { exact: true }).fill('Laptop');
  await press(page, 'Continue');
  await page.getByRole('row', { name: /^Laptop never/ }).waitFor();
  await choose(page, 'Laptop', 'Rename…');
  await page.getByLabel('Name', { exact: true }).fill('Old laptop');
  await press(page, 'Save');
  await page.getByRole('row', { name: /^Old laptop/ }).waitFor();
  // The device has it already.
  await press(page, 'Add a passkey');
  await page.getByLabel('Name', { exact: true }).fill('Again');
  await press(page, 'Continue');
  await page.getByText('This device has a passkey for your account already.').waitFor();
  await press(page, 'Cancel');
  await expectSound(page, 'security-passkey');
  await logOut(page);

  await page.getByRole('button', { name: 'Log in with Example ID' }).waitFor();
  await expectSound(page, 'log-in-ways');
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false });
  await press(page, 'Log in with a passkey');
  await page.getByText('No passkey was used').waitFor();
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: true });
  const sent = page.waitForRequest(`**${BY_PASSKEY}`);
  await press(page, 'Log in with a passkey');
  await page.getByRole('row', { name: /this browser.*Passkey/ }).waitFor();
  const replayed = await send(BY_PASSKEY, (await sent).postData() ?? '');
  expect(await failureOf(replayed)).toMatchObject({ status: 401, code: 'invalid_passkey' });

  aheadMs += 11 * MINUTE_MS;
  expectProblem(page, /(401|403).*passkey\.remove/);
  await choose(page, 'Old laptop', 'Delete…');
  await press(page, 'Delete the passkey');
  await page.getByLabel('Your password', { exact: true }).fill('not my password');
  await press(page, 'Delete the passkey');
  await page.getByText('This is not your current password.').waitFor();
  await expectSound(page, 'passkey-proof');
  await page.getByLabel('Your password', { exact: true }).fill(MEMBER_PASSWORD);
  await press(page, 'Delete the passkey');
  await page.getByText('With a passkey you log in by your fingerprint').waitFor();
  await logOut(page);
  expectProblem(page, /401.*session\/passkey/);
  await press(page, 'Log in with a passkey');
  await page.getByText('This passkey is not accepted').waitFor();
  const audit = await gateway.admin('audit.list', {
    since_s: null,
    action: 'passkey',
    actor: null,
    subject: gateway.anna.id,
    limit: 9,
    after: null,
  });
  expect(audit.map(({ action }) => action)).toEqual(['passkey.remove', 'passkey.add']);
});

/** What the device signs on whatever page is open. */
function signed(page: Page, challenge: string): Promise<string> {
  return page.evaluate(`(async () => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(${challenge});
    return JSON.stringify({ response: (await navigator.credentials.get({ publicKey })).toJSON() });
  })()`);
}

test('a passkey on a page of another origin, or too late, is refused', async ({ skip }) => {
  skip(isFirefox, NO_AUTHENTICATOR);
  const page = await stranger('/settings/security');
  await addAuthenticator(page);
  await logIn(page, gateway.ben.email);
  await press(page, 'Add a passkey');
  await page.getByLabel('Name', { exact: true }).fill('Phone');
  await press(page, 'Continue');
  await page.getByRole('row', { name: /^Phone/ }).waitFor();
  const challenge = async () => (await send(CHALLENGE, '{}')).text();

  const late = await signed(page, await challenge());
  aheadMs += 5 * MINUTE_MS;
  expect((await send(BY_PASSKEY, late)).status).toBe(401);
  expect((await send(BY_PASSKEY, await signed(page, await challenge()))).status).toBe(204);

  // Browsers let every port of a host use its passkeys.
  const other = createServer((_, response) => response.end('<title>other</title>'));
  other.listen(0, 'localhost');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  await page.goto(`http://localhost:${(other.address() as AddressInfo).port}/`);
  expect((await send(BY_PASSKEY, await signed(page, await challenge()))).status).toBe(401);
});

test('an account at a provider joins, logs in, is connected and disconnected', async () => {
  // Forgets the wrong attempts of the tests before: with them, this address would have to wait.
  aheadMs += MEMORY_MS + MINUTE_MS;
  provider.become(null);
  const page = await stranger('/jobs');
  await press(page, 'Log in with Example ID');
  await page.getByText('The log-in was canceled').waitFor();
  await expectSound(page, 'log-in-problem');
  provider.become({ sub: 'una', email: 'una@home.example', email_verified: true, name: 'Una' });
  await press(page, 'Log in with Example ID');
  await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
  await page.goto('/settings/security');
  await page.getByRole('row', { name: /this browser.*Single sign-on/ }).waitFor();
  await page.getByRole('heading', { name: 'Set a password' }).waitFor();
  await page.getByText('una@home.example').waitFor();
  await expectSound(page, 'security-provider');
  expectProblem(page, /409.*oidc\.disconnect/);
  await press(page, 'Disconnect');
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('You could not log in any more').waitFor();
  await press(page, 'Cancel');
  await page.getByLabel('New password', { exact: true }).fill(MEMBER_PASSWORD);
  await press(page, 'Set the password');
  await page.getByRole('heading', { name: 'Change your password' }).waitFor();
  await press(page, 'Disconnect');
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await press(page, 'Connect');
  await press(page, 'Continue');
  await page.getByText('una@home.example').waitFor();
  await logOut(page);

  const invite = { email: 'ivo@example.org', admin: false, network: null, expires_in_s: 60 };
  const { secret } = await gateway.admin('user.invite', invite);
  provider.become({ sub: 'ivo', name: 'Ivo' });
  const friend = await stranger(`/join#${secret}`);
  await friend.getByRole('button', { name: 'Join with Example ID' }).waitFor();
  await expectSound(friend, 'join-provider');
  await press(friend, 'Join with Example ID');
  await friend.locator('.sidebar-foot .name', { hasText: 'Ivo' }).waitFor({ state: 'attached' });
});

test('an admin makes a link, by which a member sets a new password and is told so', async () => {
  const admin = await addAdmin(gateway);
  const page = await stranger('/admin/users');
  await logIn(page, admin.email);
  await choose(page, 'Anna', 'Make a reset link…');
  await press(page, 'Make the link');
  const link = page.getByRole('dialog').getByText(/\/reset#gwr_/);
  await link.waitFor();
  await expectSound(page, 'admin-reset-link');
  const url = (await link.textContent()) ?? '';

  const own = await stranger(url);
  await own.getByRole('heading', { name: 'Set a new password' }).waitFor();
  expect(own.url()).toBe(`${site}/reset`);
  await expectSound(own, 'reset');
  await own.getByLabel('New password', { exact: true }).fill('another long password');
  await press(own, 'Set the password');
  await own.getByText(/Your password was reset on .* by a link that an admin made/).waitFor();
  expect(new URL(own.url()).pathname).toBe('/');

  // Also for somebody who is logged in here, as another member.
  expectProblem(page, /401.*password\/reset/);
  await page.goto(url);
  await page.getByLabel('New password', { exact: true }).fill('another long password');
  await press(page, 'Set the password');
  await page.getByText('This link is not accepted').waitFor();
});
