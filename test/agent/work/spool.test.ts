/** Recorded answers on disk: recovery, sweeps, and a full disk. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnswerLog } from '@inference-gateway/agent/work/answer-log';
import { Spool, spoolMeta } from '@inference-gateway/agent/work/spool';
import { MEMORY_MAX_BYTES } from '@inference-gateway/agent/work/spool-room';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';

const FACTS = {
  jobId: 'job-1',
  claimId: 'claim-1',
  model: 'tiny',
  endpoint: 'chat',
  caller: 'Anna',
  own: true,
  since: 1_700_000_000_000,
};
const KIB = 1024;
const logger = createLogger('silent');

const metaOf = (log: AnswerLog): string => spoolMeta(FACTS, log, Date.now());

async function newSpool(maxBytes?: number) {
  const folder = join(await temporaryFolder(), 'spool');
  return { folder, spool: await openSpool(folder, maxBytes) };
}

async function openSpool(folder: string | null, maxBytes?: number): Promise<Spool> {
  const spool = new Spool({
    folder,
    now: Date.now,
    logger,
    ...(maxBytes !== undefined && { maxBytes }),
  });
  await spool.restore();
  return spool;
}

async function wholeAnswer(spool: Spool, text: string): Promise<AnswerLog> {
  const log = spool.newLog();
  log.head(200, 'application/json');
  await log.data(Buffer.from(text));
  log.end({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }, energy_j: 310 });
  return log;
}

/** A folder with one whole answer that is kept, as a process that has ended leaves it. */
async function keptAnswer(text = 'the answer') {
  const { folder, spool } = await newSpool();
  const log = await wholeAnswer(spool, text);
  expect(await log.keep(metaOf(log))).toBe(true);
  await log.close();
  const [stem = ''] = (await readdir(folder)).map((name) => name.split('.')[0]);
  return { folder, meta: join(folder, `${stem}.json`), data: join(folder, `${stem}.data`) };
}

async function restored(folder: string) {
  return new Spool({ folder, now: Date.now, logger }).restore();
}

test('a small answer stays in memory until it is kept', async () => {
  const { folder, spool } = await newSpool();
  const log = await wholeAnswer(spool, 'x'.repeat(256 * KIB));
  expect(await readdir(folder)).toEqual([]);
  await log.keep(metaOf(log));
  expect(await readdir(folder)).toHaveLength(2);
  await log.remove();
  expect(await readdir(folder)).toEqual([]);
});

test('a larger one goes to disk while it grows, and reads the same from its start', async () => {
  const { folder, spool } = await newSpool();
  const log = spool.newLog();
  const pieces = Array.from({ length: 9 }, (_, i) => Buffer.alloc(60 * KIB, `${i}`));
  for (const piece of pieces) await log.data(piece);
  const [name = ''] = await readdir(folder);
  expect((await stat(join(folder, name))).size).toBeGreaterThan(256 * KIB);
  const read: Uint8Array[] = [];
  for (let at = 0; at < log.length; at += read.at(-1)?.length ?? 0) {
    read.push(await log.read(at, Math.min(log.length, at + 64 * KIB)));
  }
  expect(Buffer.concat(read).equals(Buffer.concat(pieces))).toBe(true);
  await log.remove();
});

test('only the owner may read it', async () => {
  const { folder, meta, data } = await keptAnswer();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const file of [meta, data]) expect((await stat(file)).mode & 0o777).toBe(0o600);
});

describe('the next process', () => {
  test('finds a whole answer as it was, with its hash', async () => {
    const { folder } = await keptAnswer();
    const [answer] = await restored(folder);
    expect(answer?.facts).toEqual(FACTS);
    const { log } = answer ?? {};
    expect(log?.isWhole).toBe(true);
    expect(log?.sha256).toBe(createHash('sha256').update('the answer').digest('hex'));
    expect(String(await log?.read(0, 10))).toBe('the answer');
    expect(log?.marks).toEqual([
      { at: 0, message: { t: 'HEAD', status: 200, content_type: 'application/json' } },
      {
        at: 10,
        message: {
          t: 'END',
          ok: true,
          usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
          energy_j: 310,
        },
      },
    ]);
    await log?.remove();
    expect(await readdir(folder)).toEqual([]);
  });

  test('finds a failure, too', async () => {
    const { folder, spool } = await newSpool();
    const log = spool.newLog();
    await log.data(Buffer.from('half'));
    log.fail('LOCAL_ERROR', 'it broke off');
    await log.keep(metaOf(log));
    await log.close();
    const [answer] = await restored(folder);
    expect(answer?.log.failure).toMatchObject({ code: 'LOCAL_ERROR', message: 'it broke off' });
    expect(answer?.log.length).toBe(0);
  });

  test.each<[string, (kept: { meta: string; data: string }) => Promise<void>]>([
    ['with another byte', ({ data }) => writeFile(data, 'The answer')],
    ['with a byte too few', ({ data }) => truncate(data, 9)],
    ['with a byte too many', ({ data }) => writeFile(data, 'the answer!')],
    ['without its bytes', ({ data }) => rm(data)],
    ['of which nothing is told', ({ meta }) => rm(meta)],
    ['of which half is told', ({ meta }) => truncate(meta, 40)],
    ['of which is told what is none', ({ meta }) => edit(meta, '"HEAD"', '"OPEN"')],
    ['that has no last word', ({ meta }) => edit(meta, '"END"', '"PART"')],
    ['of eight days ago', ({ meta }) => edit(meta, /"kept_at":\d+/, eightDaysAgo())],
  ])('sweeps an answer %s', async (_what, damage) => {
    const kept = await keptAnswer();
    await damage(kept);
    expect(await restored(kept.folder)).toEqual([]);
    expect(await readdir(kept.folder)).toEqual([]);
  });

  test('sweeps what was not finished', async () => {
    const { folder, spool } = await newSpool();
    const log = spool.newLog();
    await log.data(Buffer.alloc(300 * KIB));
    expect(await readdir(folder)).toHaveLength(1);
    await log.close();
    await writeFile(join(folder, 'x.json.tmp'), '{');
    expect(await restored(folder)).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });
});

test('an answer is kept once, however often its link ends', async () => {
  const { folder, spool } = await newSpool();
  const log = await wholeAnswer(spool, 'the answer');
  const kept = [log.keep(metaOf(log)), log.keep(metaOf(log))];
  expect(await Promise.all(kept)).toEqual([true, true]);
  const [answer] = await restored(folder);
  const meta = join(folder, (await readdir(folder)).find((name) => name.endsWith('.json')) ?? '');
  const before = await readFile(meta, 'utf8');
  await answer?.log.keep('{}');
  expect(await readFile(meta, 'utf8')).toBe(before);
  await log.remove();
});

test('what is not of the spool is left alone', async () => {
  const { folder } = await newSpool();
  await mkdir(join(folder, 'lost+found'));
  await mkdir(join(folder, 'a-folder.data'));
  await writeFile(join(folder, 'film.mp4'), 'mine');
  expect(await restored(folder)).toEqual([]);
  expect((await readdir(folder)).toSorted()).toEqual(['a-folder.data', 'film.mp4', 'lost+found']);
});

describe('a full spool', () => {
  test('refuses what goes beyond, and has room again when something leaves', async () => {
    const { spool } = await newSpool(10);
    const first = await wholeAnswer(spool, '12345678');
    const second = spool.newLog();
    await expect(second.data(Buffer.from('123'))).rejects.toThrow('the spool is full');
    await first.remove();
    await second.data(Buffer.from('123'));
    expect(second.length).toBe(3);
  });

  test('counts what lies there from before', async () => {
    const { folder } = await keptAnswer('12345678');
    const spool = await openSpool(folder, 10);
    await expect(spool.newLog().data(Buffer.from('123'))).rejects.toThrow('the spool is full');
  });

  test('a failure gives the room back', async () => {
    const { spool } = await newSpool(10);
    const log = spool.newLog();
    await log.data(Buffer.from('1234567890'));
    log.fail('INTERNAL', 'the spool is full');
    await spool.newLog().data(Buffer.from('1234567890'));
  });
});

describe('a full disk', () => {
  test('fails what needs more than memory, and leaves the rest whole', async (context) => {
    const folder = await smallDisk();
    if (folder === null) return context.skip('no file system can be mounted here');
    const spool = await openSpool(join(folder, 'spool'));
    const large = spool.newLog();
    const piece = Buffer.alloc(128 * KIB);
    const filled = (async () => {
      for (let i = 0; i < 20; i++) await large.data(piece);
    })();
    await expect(filled).rejects.toThrow('the spool is full');
    const small = await wholeAnswer(spool, 'x'.repeat(100 * KIB));
    await expect(small.keep(metaOf(small))).rejects.toThrow('ENOSPC');
    expect((await readdir(join(folder, 'spool'))).filter((name) => name.endsWith('.tmp'))).toEqual(
      [],
    );
    expect((await small.read(0, 100 * KIB)).length).toBe(100 * KIB);
    large.fail('INTERNAL', 'the spool is full');
    await expect.poll(() => small.keep(metaOf(small)).catch(() => false)).toBe(true);
    await small.close();
    expect(await restored(join(folder, 'spool'))).toHaveLength(1);
    return undefined;
  });

  test('a folder that cannot be made is no reason to stop', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    const log = await wholeAnswer(await openSpool(join(file, 'spool')), 'in memory');
    expect(await log.keep(metaOf(log))).toBe(false);
    expect(String(await log.read(0, 9))).toBe('in memory');
  });

  test('memory is no disk: it holds less', async () => {
    const log = (await openSpool(null)).newLog();
    await log.data(Buffer.alloc(MEMORY_MAX_BYTES));
    await expect(log.data(Buffer.alloc(1))).rejects.toThrow('the spool is full');
  });
});

/** A file system of 1 MiB; null if the tests may not mount one. */
async function smallDisk(): Promise<string | null> {
  const folder = await temporaryFolder();
  const disk = join(folder, 'disk');
  await mkdir(disk);
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], {
      stdio: 'ignore',
    });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('/bin/umount', ['--lazy', disk]));
  return disk;
}

async function edit(file: string, from: string | RegExp, to: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
}

function eightDaysAgo(): string {
  return `"kept_at":${Date.now() - 8 * 24 * 3_600_000}`;
}
