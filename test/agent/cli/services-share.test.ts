import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { deadOrigin } from './agent-program.js';
import { LLM, sharingHome, TTS } from './sharing-home.js';

test('what all others may use in a day and a month is set with the share, and shown', async () => {
  const { agent, shared } = await sharingHome();
  const line = 'services share chat --network friends --day requests=5,audio_s=0 --month tokens=9';
  const made = await agent(line);
  expect(made.stderr).toContain('requests=5,audio_s=0 a day, tokens=9 a month');
  const quota = { day: 'requests=5,audio_s=0', month: 'tokens=9' };
  expect(await shared()).toMatchObject([quota]);
  const wrong = await agent('services share chat --network friends --day cats=1');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('requests=100')]);
});

test('a service is shared and unshared, as the coordinator tells at once', async () => {
  const { agent, shared } = await sharingHome();
  const made = await agent('services share chat --network friends --slots 1 --max-tokens 500');
  expect(made.code, made.stderr).toBe(0);
  const id = made.stdout.trim();
  expect(made.stderr).toContain('Shared: chat with friends (1 slot, 500 tokens an answer).');
  // Its agent has never been online.
  expect(made.stderr).toContain("warning: Anna/den-pc serves no service 'chat' as yet");
  const row = { id, service_id: 'chat', model: null, network: 'friends', slots: 1 };
  expect(await shared()).toMatchObject([{ ...row, max_tokens: 500, hours: null }]);
  const ended = await agent('services unshare chat');
  expect(ended).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(ended.stderr).toContain('No longer shared: chat with friends');
  expect(await shared()).toEqual([]);
});

test('shared again it takes the new caps, in the hours of this machine', async () => {
  const { agent, shared } = await sharingHome();
  const first = await agent('services share all --network FRIENDS --slots 3');
  const second = await agent('services share all --network friends --hours 22:00-07:00');
  expect(second.stdout).toBe(first.stdout);
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const [row] = await shared();
  expect(row).toMatchObject({ service_id: null, slots: null, hours: `22:00-07:00 ${timeZone}` });
});

test('what is ended is what fits all that is named, and the rest is told', async () => {
  const { agent, gateway, shared } = await sharingHome();
  await gateway.admin('network.create', { name: 'family', owner: 'Anna' });
  for (const line of [
    'chat --network friends',
    'chat --network family',
    'all --network friends --model tiny',
  ]) {
    expect((await agent(`services share ${line}`)).code).toBe(0);
  }
  const one = await agent('services unshare chat --network family');
  expect(one.stdout.trim().split('\n')).toHaveLength(1);
  expect(one.stderr).toContain('Still shared: chat with friends; the model tiny with friends.');
  await agent('services unshare all --model tiny');
  expect(await shared()).toMatchObject([{ service_id: 'chat', network: 'friends' }]);
  expect((await agent('services unshare all --network friends')).code).toBe(0);
  expect(await shared()).toEqual([]);
});

test('a network is named by its id, too, also to end what is shared with it', async () => {
  const { agent, gateway, shared } = await sharingHome();
  const [network] = await gateway.admin('network.list', {});
  const named = `all --network ${network?.id ?? ''}`;
  const made = await agent(`services share ${named}`);
  expect(made.stderr).toContain('Shared: everything with friends.');
  const ended = await agent(`services unshare ${named}`);
  expect({ code: ended.code, stdout: ended.stdout }, ended.stderr).toEqual({
    code: 0,
    stdout: made.stdout,
  });
  expect(await shared()).toEqual([]);
});

test('hours are told with a zone where TZ names none', async () => {
  const { gateway, home } = await sharingHome();
  const words = ['services', 'share', 'chat', '--network', 'friends', '--hours', '22:00-07:00'];
  const run = await home.run([...words, '--config', home.configFile], { TZ: ':/nowhere' });
  expect(run.code, run.stderr).toBe(0);
  const [share] = (await gateway.admin('provider.show', { provider: 'den-pc' })).shares;
  expect(share).toMatchObject({ hours: '22:00-07:00 UTC' });
});

test('the list shows with whom each service is shared, members too', async () => {
  const { agent, gateway } = await sharingHome();
  await agent('services share chat --network friends');
  await agent('services share all --network friends --model tiny');
  const all = { provider: 'den-pc', service: null, model: null, network: null, user: 'Ben' };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  await gateway.admin('provider.share', { ...all, ...caps });
  const rows = JSON.parse((await agent('services list --json')).stdout) as object[];
  expect(rows).toMatchObject([
    { id: 'chat', shared_with: ['friends', 'friends: tiny', 'Ben'] },
    { id: 'voice', shared_with: ['friends: tiny', 'Ben'] },
  ]);
  const [line] = (await agent('services list')).stdout.split('\n');
  expect(line?.split('\t').at(-1)).toBe('friends, friends: tiny, Ben');
});

test('the list shows how much of a quota others have used', async () => {
  const { agent, gateway } = await sharingHome();
  await agent('services share chat --network friends --slots 1 --day requests=5,tokens=100');
  const { shares: given } = await gateway.admin('provider.show', { provider: 'den-pc' });
  const limits = { slots: 1, hours: null, max_tokens: null, month: null };
  const [chat, voice] = JSON.parse((await agent('services list --json')).stdout) as object[];
  expect(chat).toMatchObject({ shared_with: ['friends'] });
  expect(chat).toHaveProperty('shares', [
    {
      id: given[0]?.id,
      network: 'friends',
      member: null,
      model: null,
      ...limits,
      day: 'requests=5,tokens=100',
      used: given[0]?.used,
    },
  ]);
  expect(voice).toHaveProperty('shares', []);
  const [line] = (await agent('services list')).stdout.split('\n');
  expect(line?.split('\t').at(-1)).toBe('friends (requests=0/5,tokens=0/100 a day)');
});

test('the list shows hundreds of shares, with long names', async () => {
  const { agent, gateway } = await sharingHome();
  const all = { provider: 'den-pc', service: null, network: 'friends', user: null };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  const put = (_: unknown, index: number) =>
    gateway.admin('provider.share', { ...all, ...caps, model: `${'m'.repeat(200)}-${index}` });
  await Promise.all(Array.from({ length: 256 }, put));
  const rows = JSON.parse((await agent('services list --json')).stdout) as object[];
  expect(rows).toHaveProperty('0.shared_with.length', 256);
});

test('the list says that nobody gets anything of a machine that waits for approval', async () => {
  const { agent, gateway } = await sharingHome({ providerApproval: true });
  const says = `Nobody gets any of it until an administrator of ${gateway.address} approves it.`;
  expect((await agent('services list')).stderr).toContain(says);
  await gateway.admin('provider.approve', { provider: 'den-pc' });
  expect((await agent('services list')).stderr).toBe('');
});

test('where the coordinator does not answer, the list says so and shows the rest', async () => {
  const { agent, home } = await sharingHome();
  await home.writeConfig({ url: await deadOrigin(), services: [LLM] });
  const { code, stdout, stderr } = await agent('services list --json');
  expect({ code, rows: JSON.parse(stdout) as unknown }).toMatchObject({
    code: 0,
    rows: [{ id: 'chat', shared_with: null }],
  });
  expect(stderr).toContain('What is shared is not known: the coordinator at');
});

test('a machine that is not enrolled lists its services without a word', async () => {
  const { agent, home } = await sharingHome();
  await rm(`${home.configFile}.token`);
  const { stdout, stderr } = await agent('services list --json');
  expect(JSON.parse(stdout)).toMatchObject([{ shared_with: null }, { shared_with: null }]);
  expect(stderr).toBe('');
});

test('each failure has its exit code, and changes nothing', async () => {
  const { agent, gateway, home, shared } = await sharingHome();
  const expectCode = async (line: string, code: number, says: string): Promise<void> => {
    const run = await agent(line);
    expect({ line, code: run.code, stdout: run.stdout }, run.stderr).toEqual({
      line,
      code,
      stdout: '',
    });
    expect(run.stderr, line).toContain(says);
  };
  await expectCode('services share chatt --network friends', 3, 'did you mean chat?');
  await expectCode('services share chat --network friend', 3, 'Did you mean friends?');
  await expectCode('services unshare chatt', 3, 'did you mean chat?');
  await expectCode('services unshare chat', 3, 'no share fits that: nothing is shared.');
  const model = 'services share chat --model tiny --network friends';
  await expectCode(model, 2, 'write all in the place of the service');
  await expectCode('services share chat --network friends --slots 0', 2, '--slots');
  await expectCode('services share chat --network friends --slots 2000', 2, 'slots');
  await expectCode('services share chat --network friends --hours 7-8', 2, '--hours');
  await gateway.admin('user.disable', { member: 'Anna' });
  await expectCode('services share chat --network friends', 4, 'is disabled');
  await gateway.admin('user.enable', { member: 'Anna' });
  expect(await shared()).toEqual([]);
  await gateway.admin('provider.remove', { provider: 'den-pc' });
  await expectCode('services share chat --network friends', 4, 'not known');
  await home.writeConfig({ url: await deadOrigin(), services: [LLM, TTS] });
  await expectCode('services share chat --network friends', 5, 'cannot be reached');
  await expectCode('services unshare chat', 5, 'nothing listens there');
  await rm(`${home.configFile}.token`);
  await expectCode('services share chat --network friends', 4, 'not enrolled');
  await expectCode('services unshare chat', 4, 'not enrolled');
});

test('what has left the configuration can still be unshared, and nothing else of it', async () => {
  const { agent, home, shared } = await sharingHome();
  await agent('services share voice --network friends');
  await home.writeConfig({ ...(await home.readConfig()), services: [LLM] });
  const again = await agent('services share voice --network friends');
  expect([again.code, again.stdout]).toEqual([3, '']);
  expect((await agent('services unshare voice')).code).toBe(0);
  expect(await shared()).toEqual([]);
});
