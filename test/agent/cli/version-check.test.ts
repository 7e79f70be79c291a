import { versionFault } from '@inference-gateway/agent/cli/version';
import { AGENT_VERSION } from '@inference-gateway/agent/own-files';
import { describe, expect, test } from 'vitest';
import { agentHome, deadOrigin, httpServer } from './agent-program.js';
import { sharingHome } from './sharing-home.js';

const OWN = 'gw-agent.v1';

/** Stands for a coordinator of another version; with a status, it refuses. */
function coordinatorOf(version: string, protocols: readonly string[] = [OWN], status = 200) {
  return httpServer((request, response) => {
    const isSelf = request.url === '/agent/v1/self' && request.method === 'GET';
    response.writeHead(isSelf ? status : 404, { 'content-type': 'application/json' });
    const self = {
      provider_id: '01P',
      name: 'den-pc',
      owner: 'Anna',
      approved: true,
      server_time: Date.now(),
      networks: [],
      shares: [],
    };
    response.end(JSON.stringify({ ...self, version, protocols }));
  });
}

async function check(url: string, more: readonly string[] = []) {
  const home = await agentHome();
  await home.enrolAt(url);
  return home.run(['version', '--check', '--config', home.configFile, ...more]);
}

describe('version --check', () => {
  test('prints both versions, and exits 0 where they fit', async () => {
    const { agent } = await sharingHome();
    const told = `${AGENT_VERSION}\t${AGENT_VERSION}\n`;
    expect(await agent('version --check')).toMatchObject({ code: 0, stdout: told, stderr: '' });
    const json = JSON.parse((await agent('version --check --json')).stdout) as object;
    expect(json).toMatchObject({
      version: AGENT_VERSION,
      coordinator: { version: AGENT_VERSION, protocols: [OWN] },
      fits: true,
    });
  });

  test('exits 9 with what updates it, where the coordinator is newer', async () => {
    const { code, stdout, stderr } = await check(await coordinatorOf('99.0.0'), ['--json']);
    expect({ code, told: JSON.parse(stdout) as unknown }).toMatchObject({
      code: 9,
      told: { version: AGENT_VERSION, coordinator: { version: '99.0.0' }, fits: false },
    });
    expect(stderr).toContain(
      `this agent (${AGENT_VERSION}) is older than its coordinator (99.0.0)`,
    );
    expect(stderr).toContain('git pull && npm ci && npm run build');
  });

  test('exits 9 where they speak no common protocol', async () => {
    const { code, stderr } = await check(await coordinatorOf('0.0.1', ['gw-agent.v0']));
    expect(code).toBe(9);
    expect(stderr).toContain('speaks gw-agent.v1, the coordinator (0.0.1) only gw-agent.v0');
  });

  test('exits 4 where it is refused or not enrolled, and 5 where nobody answers', async () => {
    const refused = await check(await coordinatorOf('1.0.0', [OWN], 401));
    expect([refused.code, refused.stdout]).toEqual([4, '']);
    const home = await agentHome();
    await home.writeConfig({});
    const args = ['version', '--check', '--config', home.configFile];
    expect((await home.run(args)).code).toBe(4);
    expect((await check(await deadOrigin())).code).toBe(5);
    expect((await check(await coordinatorOf('1.0.0', [OWN], 404))).code).toBe(5);
  });
});

test.each([
  ['1.2.3', '1.2.3', true],
  ['1.2.3', '1.2.4', false],
  ['1.2.3', '1.3.0', false],
  ['1.9.0', '1.10.0', false],
  ['2.0.0', '1.99.99', true],
  ['1.2.3', '1.2.3-beta.1', true],
  ['1.2.3', 'unheard of', true],
])('an agent %s beside a coordinator %s fits: %s', (agent, version, fits) => {
  expect(versionFault(agent, { version, protocols: ['other', OWN] }) === null).toBe(fits);
});
