import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startGateway } from '../../support/gateway.js';
import { certificateFile, TlsFront } from '../../support/tls-front.js';
import type { CertificateName } from '../../support/tls-front.js';
import { until } from '../../support/until.js';
import { agentHome } from '../cli/agent-program.js';

/** An agent that is enrolled with a coordinator behind TLS, and trusts one certificate. */
async function secured(shown: CertificateName, trusted: CertificateName) {
  const gateway = await startGateway();
  const front = await new TlsFront(Number(new URL(gateway.address).port), shown).listen();
  const home = await agentHome();
  await writeFile(`${home.configFile}.token`, await gateway.anna.enroll('den-pc'));
  const service = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9' };
  await home.writeConfig({ url: front.origin, services: [service] });
  const env = { NODE_EXTRA_CA_CERTS: certificateFile(trusted) };
  const run = (...args: string[]) => home.run([...args, '--config', home.configFile], env);
  const start = () => home.start(['start', '--config', home.configFile], env);
  return { front, run, start };
}

test('an agent whose coordinator changes its certificate says so, and comes back', async () => {
  const { front, run, start } = await secured('good', 'good');
  const agent = start();
  await agent.printed(/online as (\S+)/);
  const status = async () =>
    JSON.parse((await run('status', '--json')).stdout) as { connection: string; reason: string };
  front.exchange('exchanged');
  const reason = await until(async () => {
    const told = await status();
    return told.reason?.includes('certificate') ? told.reason : null;
  });
  expect(reason).toContain('its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)');
  expect(reason).toContain('ask the admin of the coordinator what has changed');
  expect(reason).toContain('NODE_EXTRA_CA_CERTS');
  expect(agent.child.exitCode).toBeNull();
  front.exchange('good');
  await until(async () => (await status()).connection === 'online', { timeoutMs: 60_000 });
}, 90_000);

test.each([
  ['exchanged', 'good', 'its certificate is self-signed'],
  ['expired', 'expired', 'its certificate has expired. The admin of the coordinator renews it'],
  ['elsewhere', 'elsewhere', "localhost. is not in the cert's altnames: DNS:gateway.example.org"],
] as const)('a certificate that is %s is refused with its reason', async (shown, trusted, says) => {
  const { run } = await secured(shown, trusted);
  for (const line of ['start --once', 'version --check']) {
    const { code, stderr } = await run(...line.split(' '));
    expect({ line, code }, stderr).toEqual({ line, code: 5 });
    expect(stderr, line).toContain(says);
  }
});
