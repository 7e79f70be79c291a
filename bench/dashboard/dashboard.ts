/**
 * What the dashboard costs: bytes before the page draws anything, time to its first screen, the
 * coordinator's CPU and memory with many open tabs, and how it fares with much in the tables.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadGenerator } from '../load-generator.js';
import type { BenchOptions } from '../options.js';
import { stopAll } from '../processes.js';
import { Samples } from '../samples.js';
import { answersPhase } from './answers.js';
import { appShellPhase } from './app-shell.js';
import { openBrowser } from './bench-browser.js';
import type { DashboardRound, Size } from './dashboard-round.js';
import { firstScreenPhase } from './first-screen.js';
import { openFullGateway } from './full-gateway.js';
import { longListsPhase } from './long-lists.js';
import { tabsPhase } from './tabs.js';
import { openTown } from './town.js';

const FULL: Size = {
  openings: 5,
  tabs: 50,
  tabsMs: 60_000,
  warmMs: 30_000,
  aloneMs: 20_000,
  jobs: 10_000,
  models: 500,
  // Each changes nine sums of its own: a million would take seven minutes to write.
  usageRows: 100_000,
  reads: 300,
};
const QUICK: Size = {
  openings: 1,
  tabs: 50,
  tabsMs: 10_000,
  warmMs: 5_000,
  aloneMs: 3_000,
  jobs: 1_000,
  models: 50,
  usageRows: 20_000,
  reads: 20,
};
/** Nobody has more open; and the coordinator lets a member have only so many. */
const TABS_A_MEMBER = 10;

export async function dashboard(options: BenchOptions): Promise<Samples> {
  const samples = new Samples(['gateway']);
  const folder = mkdtempSync(join(tmpdir(), 'gateway-dashboard-'));
  const generator = new LoadGenerator();
  const browser = await openBrowser();
  const { say, cpuProf } = options;
  if (browser === null) say('there is no Chromium on the PATH: what needs one is not measured');
  const round: DashboardRound = { samples, size: sizeOf(options), generator, browser, say };
  for (const [name, value] of Object.entries(round.size)) samples.add('gateway', name, value);
  const nodeFlags = cpuProf === null ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  try {
    await measureTown(round, { folder, nodeFlags });
    await measureFull(round, { folder, nodeFlags });
  } finally {
    generator.stop();
    await browser?.close();
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  }
  return samples;
}

function sizeOf({ quick, tabs, seconds }: BenchOptions): Size {
  const size = quick ? QUICK : FULL;
  return {
    ...size,
    tabs: tabs ?? size.tabs,
    tabsMs: seconds === null ? size.tabsMs : seconds * 1_000,
  };
}

interface Place {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
}

async function measureTown(round: DashboardRound, place: Place): Promise<void> {
  const members = Math.ceil(round.size.tabs / TABS_A_MEMBER);
  const town = await openTown({ ...place, members });
  try {
    await appShellPhase(round, town);
    await firstScreenPhase(round, town);
    await tabsPhase(round, town);
  } finally {
    town.fleet.sleepAll();
    await stopAll();
  }
}

async function measureFull(round: DashboardRound, place: Place): Promise<void> {
  const gateway = await openFullGateway(place, round);
  try {
    await answersPhase(round, gateway);
    await longListsPhase(round, gateway);
  } finally {
    gateway.fleet.sleepAll();
    await stopAll();
  }
}
