/** The names by which callers find their jobs and files again. */
import { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/until.js';
import { my } from './console-calls.js';
import {
  accepted,
  act,
  BATCHES,
  chatItem,
  ended,
  getJob,
  getJson,
  JOBS,
  listJobs,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody, JobBody, ListBody } from './job-calls.js';
import { openJobStage } from './job-stage.js';
import type { JobStage } from './job-stage.js';
import { failureOf, post } from './requests.js';
import { visit } from './visitor.js';

const ASSETS = '/api/inference/assets';
const PAINT = '/v1/images/generations';

interface Named {
  readonly id: string;
  readonly excerpt?: string;
  readonly custom_id?: string;
  readonly batch_label?: string;
}

let stage: JobStage;

beforeAll(async () => {
  stage = await openJobStage();
  return stage.stop;
});

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const excerptOf = async (id: string): Promise<string | undefined> =>
  (await getJson<Named>(stage.gateway, `${JOBS}/${id}`)).excerpt;

describe('an excerpt', () => {
  it('is the last text of the user, in one line, for jobs of each way in', async () => {
    const { gateway } = stage;
    const text = 'Mend\n the \u202etest';
    const chat = await submitted(gateway, user(text));
    expect(await excerptOf(chat.id)).toBe('Mend the test');
    const background = { model: 'tiny', input: text, background: true };
    const response = await post(gateway, background, { path: '/v1/responses' });
    const { id } = (await response.json()) as { id: string };
    expect(await excerptOf(id.replace('resp_', ''))).toBe('Mend the test');
    const parts = [{ type: 'text', text }];
    const messages = { model: 'tiny', max_tokens: 9, async: true, ...user(parts) };
    const anthropic = await post(gateway, messages, { path: '/v1/messages' });
    expect(await excerptOf((await accepted<JobBody>(anthropic)).id)).toBe('Mend the test');
  });

  it('is read from large requests, too, without their pictures', async () => {
    const { gateway } = stage;
    const url = `data:image/png;base64,${'A'.repeat(400_000)}`;
    const long = `What is this? ${'x'.repeat(300_000)}`;
    const system = { role: 'system', content: 'You are a coding agent.' };
    const picture = { type: 'image_url', image_url: { url } };
    const text = { type: 'text', text: long };
    const large = { messages: [system, { role: 'user', content: [picture, text] }] };
    const expected = `What is this? ${'x'.repeat(66)}`;
    expect(await excerptOf((await submitted(gateway, large)).id)).toBe(expected);
    const items = [chatItem(large), chatItem(user('small'))];
    const batch = await accepted<BatchBody>(await submitBatch(gateway, items, { label: 'night' }));
    const { jobs } = await getJson<BatchBody>(gateway, `${BATCHES}/${batch.id}`);
    expect(jobs).toMatchObject([{ excerpt: expected, model: 'tiny' }, { excerpt: 'small' }]);
    const [first] = jobs ?? [];
    expect(await getJob(gateway, first?.id ?? '')).toMatchObject({ batch_label: 'night' });
  });

  it('is that of the files which a call or a job makes', async () => {
    const { gateway } = stage;
    const painted = { model: 'sd', prompt: 'a red fox' };
    expect((await post(gateway, painted, { path: PAINT })).status).toBe(200);
    const job = await accepted<JobBody>(
      await post(gateway, { ...painted, prompt: 'a blue owl', async: true }, { path: PAINT }),
    );
    const { result_url: url } = await ended(gateway, job.id);
    const files = await getJson<ListBody<Named>>(gateway, `${ASSETS}?search=A%20`);
    expect(files.data.map(({ excerpt }) => excerpt)).toEqual(['a blue owl', 'a red fox']);
    expect(url).toContain(files.data[0]?.id);
    expect(await getJson(gateway, `${ASSETS}?search=%25`)).toMatchObject({ data: [] });
  });

  it('stays with a retry', async () => {
    const { gateway } = stage;
    // The next call of the server is refused: it must be that of this job.
    await until(async () => (await listJobs(gateway, '?active=1')).data.length === 0);
    const { id } = await stage.failed();
    expect(await excerptOf(id)).toBe('hello');
    await accepted(await act(gateway, `${JOBS}/${id}/retry`));
    expect(await excerptOf(id)).toBe('hello');
  });
});

describe('a list of jobs', () => {
  it('is searched by excerpt, label, id of a line and model', async () => {
    const { gateway } = stage;
    await stage.holdQueue();
    const line = { method: 'POST', url: '/v1/chat/completions' };
    const body = { model: 'tiny', ...user('A line') };
    const text = JSON.stringify({ ...line, custom_id: 'Row-7', body });
    const file = await gateway.client.files.create({
      file: await toFile(Buffer.from(text), 'night.jsonl'),
      purpose: 'batch',
    });
    const asked = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
    await gateway.client.batches.create({ ...asked, input_file_id: file.id });
    const found = async (search: string): Promise<readonly Named[]> =>
      (await listJobs(gateway, `?active=1&search=${encodeURIComponent(search)}`)).data;
    const [row] = await until(async () => {
      const rows = await found('row-7');
      return rows.length > 0 ? rows : null;
    });
    expect(row).toMatchObject({ custom_id: 'Row-7', excerpt: 'A line' });
    await accepted(
      await submitBatch(gateway, [chatItem(user('Über alles'))], { label: 'Nightly-7' }),
    );
    expect(await found('nightly-7')).toMatchObject([
      { excerpt: 'Über alles', batch_label: 'Nightly-7' },
    ]);
    expect(await found('ÜBER')).toHaveLength(1);
    expect((await found('tin')).length).toBeGreaterThanOrEqual(2);
    expect(await found('no such')).toEqual([]);
    const long = await gateway.fetch(`${JOBS}?search=${'x'.repeat(101)}`);
    const refused = { status: 400, code: 'invalid_value', param: 'search' };
    expect(await failureOf(long)).toMatchObject(refused);
  });
});

describe('a member who wants no excerpts', () => {
  it('has none from then on, and loses those that are kept', async () => {
    const { gateway } = stage;
    const anna = await visit(gateway, 'anna@example.org');
    const shown = async () => {
      const session = await getJson<{ member: object }>(anna, '/api/console/v1/session');
      return session.member;
    };
    expect(await shown()).toHaveProperty('excerpts', true);
    const { id } = await submitted(gateway, user('before'));
    expect(await my(anna, 'user.excerpts', { on: false })).toEqual({ on: false });
    expect(await shown()).toHaveProperty('excerpts', false);
    expect(await excerptOf(id)).toBeUndefined();
    expect(await excerptOf((await submitted(gateway, user('after'))).id)).toBeUndefined();
    await post(gateway, { model: 'sd', prompt: 'a red fox' }, { path: PAINT });
    for (const path of [JOBS, ASSETS]) {
      const { data } = await getJson<ListBody<Named>>(gateway, `${path}?limit=100`);
      expect(data.length).toBeGreaterThan(0);
      expect(data.filter(({ excerpt }) => excerpt !== undefined)).toEqual([]);
    }
    const all = { since_s: null, actor: null, subject: null, limit: 1 };
    const [entry] = await gateway.admin('audit.list', { ...all, action: 'user.excerpts' });
    expect(entry).toMatchObject({ before: { excerpts: true }, after: { excerpts: false } });
    await my(anna, 'user.excerpts', { on: true });
    expect(await excerptOf((await submitted(gateway, user('again'))).id)).toBe('again');
  });
});
