import { checkLocalServers } from '@inference-gateway/agent/checks/local-servers';
import { checkCertificate } from '@inference-gateway/shared/program/certificate';
import { expect, test } from 'vitest';
import { deadOrigin } from '../cli/agent-program.js';

const SERVICE = { id: 'llm-1', type: 'llm', state: 'up', reason: null, models: [] };
const REMEDIES = { renew: 'renew it', trust: 'trust it' };

const nobody = () => Promise.reject(new Error('no model is asked'));

test.each([
  {
    held: { id: 'tiny', state: 'proving', reason: null },
    says: { status: 'WARN', found: 'tiny is being tested' },
    command: 'gateway-agent status',
  },
  {
    held: { id: 'tiny', state: 'failed', reason: 'out of memory' },
    says: { status: 'FAIL', found: 'tiny failed its test: out of memory' },
    command: 'gateway-agent test tiny --service llm-1',
  },
])('a model whose test is $held.state is told as such', async ({ held, says, command }) => {
  const services = [{ ...SERVICE, held_back: [held] }];
  const [server] = await checkLocalServers({ services, busy: null, test: nobody });
  expect(server).toMatchObject({ ...says, advice: expect.stringContaining(command) });
});

test('a name that nobody knows is told from a server that is not there', async () => {
  expect(await checkCertificate('https://gateway.invalid', REMEDIES)).toMatchObject({
    status: 'FAIL',
    found: expect.stringMatching(/^no DNS server (knows its name|answers) /),
    advice: expect.stringContaining('nslookup gateway.invalid'),
  });
  const gone = (await deadOrigin()).replace('http:', 'https:');
  expect(await checkCertificate(gone, REMEDIES)).toMatchObject({
    status: 'FAIL',
    found: expect.stringContaining('nothing listens there (connect ECONNREFUSED'),
    advice: `See the way there with: curl -v ${gone}`,
  });
});
