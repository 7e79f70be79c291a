/** Open tabs of the dashboard: a browser for each member, with its share of them. */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { percentilesOf } from '../statistics.js';
import type { Job, TabsResult } from './job.js';
import { MAX_CONNECTIONS } from './tab-browser.js';
import type { Browser, Tally } from './tab-browser.js';
import { Tab } from './tab.js';

/** Nobody opens all tabs in the same moment. */
const OPENED_WITHIN_MS = 2_000;

type TabsLoad = Extract<Job, { kind: 'tabs' }>;

export async function tabsLoad({ target, cookies, ...job }: TabsLoad): Promise<TabsResult> {
  const tally: Tally = {
    requests: 0,
    notModified: 0,
    hints: 0,
    failed: 0,
    bytes: 0,
    latenciesMs: [],
  };
  const browsers = cookies.map((cookie): Browser => {
    const connections = new Agent({ keepAlive: true, maxSockets: MAX_CONNECTIONS });
    return { origin: target.origin, cookie, connections, tally };
  });
  const tabs = Array.from({ length: job.tabs }, (_, i) => {
    const browser = browsers[i % browsers.length];
    if (browser === undefined) throw new Error('tabs need a browser, and there is no cookie');
    // In turn, so that every member has both.
    return new Tab(browser, Math.floor(i / browsers.length) % 2 === 0 ? 'queue' : 'home');
  });
  for (const tab of tabs) {
    tab.open();
    await pause(OPENED_WITHIN_MS / tabs.length);
  }
  await pause(job.warmMs - OPENED_WITHIN_MS);
  const before = { ...tally, latenciesMs: tally.latenciesMs.length };
  await pause(job.durationMs);
  const result = {
    requests: tally.requests - before.requests,
    seconds: job.durationMs / 1_000,
    latencyMs: percentilesOf(tally.latenciesMs.slice(before.latenciesMs)),
    notModified: tally.notModified - before.notModified,
    hints: tally.hints - before.hints,
    bytes: tally.bytes - before.bytes,
    failed: tally.failed,
  };
  for (const tab of tabs) tab.close();
  for (const { connections } of browsers) connections.destroy();
  return result;
}
