/** `docs/walk.md` against one streamed chat and one job: the modules in which functions ran. */
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { missingPaths } from '../architecture/named-paths.js';
import { ended, submitted } from '../api/job-calls.js';
import { chat, eventsOf, post } from '../api/requests.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { allTables } from '../support/markdown-table.js';

const page = readFileSync('docs/walk.md', 'utf8');
const [chatRows = [], jobRows = [], askedRows = []] = allTables(page).map((rows) => rows.slice(1));
const [chatFiles, jobFiles] = [filesOf(chatRows), filesOf(jobRows)];
const asked = askedRows.flatMap(([files = '']) => pathsIn(files));
/** What else is under way in the process runs in one of these now and then, and never in each. */
const CALLS = 12;
const WORDS = 12;

function pathsIn(cell: string): string[] {
  const named = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
  return named.map((path) => (/^(agent|shared)\//.test(path) ? path : `coordinator/src/${path}`));
}

function filesOf(rows: readonly string[][]): string[] {
  return rows.flatMap(([, file = '']) => pathsIn(file));
}

function isAsked(path: string): boolean {
  return asked.some((one) => path.startsWith(one));
}

async function streamedChat(gateway: TestGateway): Promise<void> {
  const answer = await post(gateway, chat({ stream: true }));
  expect(eventsOf(await answer.text()).at(-1)).toBe('[DONE]');
}

async function queuedChat(gateway: TestGateway): Promise<void> {
  const { id } = await submitted(gateway);
  expect((await ended(gateway, id)).status).toBe('PROCESSED');
}

/** The source files of which a function runs in every one of some calls, after a first one. */
async function filesOfEach(session: Session, call: () => Promise<void>): Promise<string[]> {
  await call();
  const ran: Set<string>[] = [];
  for (let i = 0; i < CALLS; i += 1) {
    await session.post('Profiler.takePreciseCoverage');
    await call();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.filter(({ functions }) => functions.some(hasRun));
    ran.push(new Set(called.flatMap(({ url }) => sourceOf(url))));
  }
  return [...(ran[0] ?? [])].filter((path) => ran.every((files) => files.has(path))).toSorted();
}

function hasRun({ ranges: [whole] }: Profiler.FunctionCoverage): boolean {
  return (whole?.count ?? 0) > 0;
}

function sourceOf(url: string): string[] {
  const [, name, path] = /\/packages\/([a-z]+)\/dist\/(.+)\.js$/.exec(url) ?? [];
  return name === undefined || path === undefined ? [] : [`${name}/src/${path}.ts`];
}

async function measure(): Promise<{ readonly chat: string[]; readonly job: string[] }> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const gateway = await openGateway({ storeInThread: true });
  const fake = await startFakeOpenAi();
  try {
    await gateway.startAgent({ services: [{ baseUrl: fake.baseUrl }] });
    return {
      chat: await filesOfEach(session, () => streamedChat(gateway)),
      job: await filesOfEach(session, () => queuedChat(gateway)),
    };
  } finally {
    await gateway.stop();
    await fake.close();
    session.disconnect();
  }
}

describe('the walk', () => {
  test('is short: 35 files of a chat, 20 more of a job, 12 words each', () => {
    expect(chatFiles.length).toBeLessThanOrEqual(35);
    expect(jobFiles.length).toBeLessThanOrEqual(20);
    for (const rows of [chatRows, jobRows]) {
      expect(rows.map(([number]) => Number(number))).toEqual(rows.map((_, i) => i + 1));
    }
    expect(
      [...chatRows, ...jobRows].filter(([, , does = '']) => does.split(/\s+/).length > WORDS),
    ).toEqual([]);
  });

  test('names files that there are', () => {
    expect(missingPaths(page)).toEqual([]);
  });
});

describe('of the modules in which a function runs', () => {
  let ran: { chat: string[]; job: string[] };

  beforeAll(async () => {
    ran = await measure();
  });

  test('during a streamed chat each is in the walk, or is asked on the way', () => {
    expect(ran.chat.filter((path) => !chatFiles.includes(path) && !isAsked(path))).toEqual([]);
    expect(chatFiles.filter((path) => !ran.chat.includes(path))).toEqual([]);
  });

  test('during a job each is in one of the walks, or is asked on the way', () => {
    const files = [...chatFiles, ...jobFiles];
    expect(ran.job.filter((path) => !files.includes(path) && !isAsked(path))).toEqual([]);
    expect(jobFiles.filter((path) => !ran.job.includes(path))).toEqual([]);
  });

  test('each that is named is asked by one of the two', () => {
    const all = [...ran.chat, ...ran.job];
    const needless = asked.filter((path) => !all.some((one) => one.startsWith(path)));
    expect(needless).toEqual([]);
  });
});
