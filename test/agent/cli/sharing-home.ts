/** A machine of Anna's, enrolled with a real coordinator, whose commands run as processes. */
import { writeFile } from 'node:fs/promises';
import type { Finished } from '../../support/program.js';
import { startGateway } from '../../support/gateway.js';
import type { TestGateway } from '../../support/gateway.js';
import { agentHome } from './agent-program.js';
import type { Home } from './agent-program.js';

export interface SharingHome {
  readonly gateway: TestGateway;
  readonly home: Home;
  /** A command of `gateway-agent`, as it is typed. */
  readonly agent: (line: string) => Promise<Finished>;
  /** What of the machine is shared, as its administrator sees it. */
  readonly shared: () => Promise<readonly object[]>;
}

/** Two services, and Anna in the network `friends`. */
const SERVER = { backend: 'openai', base_url: 'http://127.0.0.1:9/v1' } as const;
export const LLM = { id: 'chat', type: 'llm', ...SERVER } as const;
export const TTS = { id: 'voice', type: 'tts', ...SERVER } as const;

export async function sharingHome(
  options?: Parameters<typeof startGateway>[0],
): Promise<SharingHome> {
  const gateway = await startGateway(options);
  const home = await agentHome();
  await gateway.admin('network.create', { name: 'friends', owner: 'Anna' });
  await writeFile(`${home.configFile}.token`, await gateway.anna.enroll('den-pc'));
  await home.writeConfig({ url: gateway.address, name: 'den-pc', services: [LLM, TTS] });
  return {
    gateway,
    home,
    agent: (line) => home.run([...line.split(' '), '--config', home.configFile]),
    shared: async () => {
      const { shares } = await gateway.admin('provider.show', { provider: 'den-pc' });
      return shares;
    },
  };
}
