/** A real agent with one model, started from its command line, behind a scripted coordinator. */
import { onTestFinished } from 'vitest';
import { hangBeforeHeaders } from '../../support/fake-behaviours.js';
import type { FakeModelServer } from '../../support/fake-model-server.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import type { Finished, RunningProgram } from '../../support/program.js';
import { until } from '../../support/until.js';
import { ScriptedCoordinator } from '../link/scripted-coordinator.js';
import type { ScriptedLink } from '../link/scripted-coordinator.js';
import { agentHome } from './agent-program.js';

export interface JobHome {
  readonly coordinator: ScriptedCoordinator;
  readonly server: FakeModelServer;
  readonly stateDir: string;
  /** Starts the agent, with these flags; resolves once it is registered. */
  startAgent(
    ...flags: string[]
  ): Promise<{ readonly program: RunningProgram; readonly link: ScriptedLink }>;
  /** Runs one more command on the same configuration, after those that run already. */
  run(...args: string[]): Promise<Finished>;
}

/** By default, the local server never answers. */
export async function jobHome(environment: Record<string, string> = {}): Promise<JobHome> {
  const home = await agentHome();
  const server = await startFakeOpenAi({ behaviour: hangBeforeHeaders() });
  onTestFinished(() => server.close());
  const coordinator = await new ScriptedCoordinator().listen();
  const service = { id: 'llm-1', type: 'llm', backend: 'openai', slots: 4 };
  await home.enrolAt(coordinator.origin, [{ ...service, base_url: server.baseUrl }]);
  const config = ['--config', home.configFile];
  let started = 0;
  return {
    coordinator,
    server,
    stateDir: `${home.configFile}.state`,
    async startAgent(...flags) {
      const program = home.start(['start', ...flags, ...config], environment);
      await program.printed(/online as (.*)/);
      return { program, link: await coordinator.link(started++) };
    },
    run: (...args) => home.run([...args, ...config]),
  };
}

/** What the agent last said of whose work it lets in, once it is this. */
export async function letsIn(link: ScriptedLink, accepts: 'all' | 'own' | 'none'): Promise<void> {
  await until(() => link.all('HEARTBEAT').at(-1)?.accepts === accepts, { what: accepts });
}
