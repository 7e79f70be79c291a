#!/usr/bin/env node
// Firefox as Playwright's `executablePath`. The two speak WebDriver BiDi, and this program relays
// it, because Firefox 153 does not know the command for the colour scheme, without which Playwright
// opens no page. It is carried out here: the scheme becomes that of the whole browser.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';
import { findFirefox } from '../../scripts/browsers.js';

const COLOUR_SCHEME = 'emulation.setMediaFeaturesOverride';
const PREFERENCE = 'layout.css.prefers-color-scheme.content-override';
const SCHEMES = { dark: 0, light: 1 };
const AS_THE_SYSTEM = 2;
const DOWNLOADS = ['browsingContext.downloadWillBegin', 'browsingContext.downloadEnd'];
/** Ids of this program's own commands: Playwright counts from 1. */
const FIRST_OWN_ID = 1e9;

const args = [...process.argv.slice(2), '--remote-allow-system-access'];
const firefox = spawn(findFirefox() ?? 'firefox', args, { stdio: ['ignore', 'inherit', 'pipe'] });
firefox.once('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
firefox.once('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => firefox.kill(signal));

createInterface({ input: firefox.stderr }).on('line', (line) => {
  const [, address] = /^WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
  if (address === undefined) console.error(line);
  else listen(address);
});

/** @param {string} address Where Firefox listens. */
function listen(address) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 0 });
  server.on('listening', () => {
    // Playwright waits for this line.
    console.error(`WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}`);
  });
  server.on('connection', (playwright, { url }) => {
    relay(playwright, new WebSocket(`${address}${url}`, { maxPayload: 0 }));
  });
}

/** Playwright tells downloads apart by an id, which this Firefox has only for navigations. */
function withDownload(message) {
  if (!DOWNLOADS.includes(message.method)) return message;
  const { navigation, url } = message.params;
  return { ...message, params: { ...message.params, download: navigation ?? url } };
}

/**
 * @param {WebSocket} playwright
 * @param {WebSocket} browser
 */
function relay(playwright, browser) {
  /** Commands that came before the connection to Firefox was open. */
  const early = [];
  const own = new Map();
  let nextId = FIRST_OWN_ID;

  const ask = (method, params) => {
    const id = nextId++;
    browser.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => own.set(id, resolve));
  };
  const setScheme = async ({ id, params }) => {
    const value = SCHEMES[params.features['prefers-color-scheme']] ?? AS_THE_SYSTEM;
    const { contexts } = (await ask('browsingContext.getTree', { 'moz:scope': 'chrome' })).result;
    const expression = `Services.prefs.setIntPref('${PREFERENCE}', ${value})`;
    const target = { context: contexts[0].context };
    const answer = await ask('script.evaluate', { expression, target, awaitPromise: false });
    playwright.send(JSON.stringify({ ...answer, id, result: {} }));
  };
  const pass = (text) => {
    const command = JSON.parse(text);
    if (command.method === COLOUR_SCHEME) void setScheme(command);
    else browser.send(text);
  };

  playwright.on('message', (/** @type {Buffer} */ data) => {
    if (browser.readyState === WebSocket.OPEN) pass(String(data));
    else early.push(String(data));
  });
  browser.on('open', () => early.splice(0).forEach(pass));
  browser.on('message', (/** @type {Buffer} */ data) => {
    const message = JSON.parse(String(data));
    own.get(message.id)?.(message);
    if (!own.delete(message.id)) playwright.send(JSON.stringify(withDownload(message)));
  });
  playwright.on('close', () => browser.close());
  browser.on('close', () => playwright.close());
  browser.on('error', () => playwright.terminate());
}
