// This version against an earlier one over the link, in both directions.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chat, job, modelsOf, stream } from './calls.js';
import { run, start } from './processes.js';

/** The oldest version that this one must get on with. */
export const EARLIER_COMMIT = '4786665';

/** @param {string} root @param {string} folder */
export async function buildEarlier(root, folder) {
  await run(['git', 'clone', '--quiet', '--no-hardlinks', root, folder]);
  await run(['git', 'checkout', '--quiet', EARLIER_COMMIT], { cwd: folder });
  await run(['npm', 'ci', '--no-audit', '--no-fund'], { cwd: folder });
  const programs = ['packages/coordinator', 'packages/agent'].filter((one) =>
    existsSync(join(folder, one)),
  );
  await run([process.execPath, 'node_modules/typescript/bin/tsc', '-b', ...programs], {
    cwd: folder,
  });
  return run(['git', 'log', '-1', '--format=%h of %cs: %s'], { cwd: folder });
}

/**
 * @param {string} coordinatorTree A repository, built.
 * @param {string} agentTree
 * @param {string} scratch A folder for the data of both.
 */
export async function between(coordinatorTree, agentTree, scratch) {
  const [data, config] = [join(scratch, 'data'), join(scratch, 'agent', 'config.json')];
  for (const folder of [data, join(scratch, 'agent')]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }
  const bin = 'bin/gateway-coordinator.js';
  const server = [process.execPath, join(coordinatorTree, 'packages/coordinator', bin)];
  const agent = [process.execPath, join(agentTree, 'packages/agent/bin/gateway-agent.js')];
  const options = ['--data', data];
  const listening = /listening on (http:\/\/\S+)/;
  const coordinator = await start([...server, 'start', ...options, '--port', '0'], listening);
  const owner = 'you@example.com';
  const create = ['user', 'create', '--admin', '--email', owner, '--name', 'you'];
  await run([...server, ...create, '--password-file', '-', ...options], {
    input: 'correct horse 1',
  });
  const named = ['--user', owner, '--name', 'packages'];
  const key = await run([...server, 'key', 'create', ...named, ...options]);
  const token = await run([...server, 'token', 'create', '--owner', owner, ...options]);
  const place = ['--config', config];
  const enroll = ['enroll', '--url', coordinator.ready, '--token-file', '-', '--name', 'pc'];
  await run([...agent, ...enroll, ...place], { input: token });
  const running = await start([...agent, 'start', '--demo', ...place], /online as (\S+)/);
  const caller = { url: coordinator.ready, key };
  const models = await modelsOf(caller);
  await chat(caller);
  const pieces = await stream(caller);
  const state = await job(caller);
  for (const one of [running, coordinator]) await one.stop();
  return `online with ${models.length} models, chat, stream of ${pieces} events, job ${state}`;
}
