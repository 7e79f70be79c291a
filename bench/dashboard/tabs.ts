/**
 * What open tabs cost the coordinator: CPU and memory of its whole process, with an idle gateway
 * and with one that runs a job a second, each time beside the same without any tab.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { BENCH_MODEL } from '../load/job.js';
import { cpuMs, rssMb } from '../process-usage.js';
import type { DashboardRound } from './dashboard-round.js';
import { cookieOf } from './members.js';
import type { BenchMember } from './members.js';
import type { Town } from './town.js';

const JOB_EVERY_MS = 1_000;

export const STATES = ['idle', 'busy'] as const;

export async function tabsPhase(round: DashboardRound, town: Town): Promise<void> {
  for (const state of STATES) {
    round.say(`${round.size.tabs} tabs on a gateway that is ${state}`);
    const stop = state === 'busy' ? submitJobs(town) : () => {};
    try {
      await withoutTabs(round, town, state);
      await withTabs(round, town, state);
    } finally {
      stop();
    }
  }
}

async function withoutTabs({ samples, size }: DashboardRound, town: Town, state: string) {
  const { coordinatorPid: pid } = town;
  const cpuBefore = cpuMs(pid);
  await pause(size.aloneMs);
  samples.add('gateway', `${state}.alone.cpu`, share(cpuMs(pid) - cpuBefore, size.aloneMs));
}

async function withTabs(round: DashboardRound, town: Town, state: string): Promise<void> {
  const { samples, generator, size } = round;
  const { origin, coordinatorPid: pid, members } = town;
  const target = { origin, headers: {} };
  const cookies = members.map(({ session }) => cookieOf(session));
  const tabs = { target, cookies, tabs: size.tabs, warmMs: size.warmMs, durationMs: size.tabsMs };
  const running = generator.run({ kind: 'tabs', ...tabs });
  await pause(size.warmMs);
  const before = { cpu: cpuMs(pid), rss: rssMb(pid) };
  const { requests, seconds, latencyMs, notModified, hints, bytes, failed } = await running;
  if (failed > 0) throw new Error(`${failed} questions or sockets of the tabs failed`);
  const add = (metric: string, value: number): void =>
    samples.add('gateway', `${state}.${metric}`, value);
  add('cpu', share(cpuMs(pid) - before.cpu, size.tabsMs));
  add('rss.begin', before.rss);
  add('rss.end', rssMb(pid));
  add('rps', requests / seconds);
  add('notModified', (100 * notModified) / requests);
  add('hints', hints / seconds);
  add('kb', bytes / seconds / 1_024);
  add('p50', latencyMs.p50);
  add('p99', latencyMs.p99);
}

/** In % of a core. */
function share(cpu: number, spanMs: number): number {
  return (100 * cpu) / spanMs;
}

/** A job a second, of each member in turn. Returns how to stop it. */
function submitJobs({ origin, members }: Town): () => void {
  let count = 0;
  const timer = setInterval(() => {
    const member = members[count++ % members.length];
    if (member !== undefined) void submitJob(origin, member);
  }, JOB_EVERY_MS);
  return () => clearInterval(timer);
}

async function submitJob(origin: string, { key }: BenchMember): Promise<void> {
  const messages = [{ role: 'user', content: 'Say one sentence about a fox and a dog.' }];
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: BENCH_MODEL, messages, async: true }),
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`a job was answered ${response.status}: ${text}`);
}
