/** A home on Linux whose service tools are stand-ins that record their arguments. */
import { fakeTools } from '../../support/fake-tools.js';
import { agentHome } from './agent-program.js';

export const LLM = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' };
const RUNNING = 'case "$*" in *show*) printf "ActiveState=active\\nSubState=running\\n";; esac';

/** `systemctl` is a shell script: by default it reports that the service runs. */
export async function daemonStage(systemctl = RUNNING) {
  const home = await agentHome();
  const tools = await fakeTools({ systemctl, loginctl: 'exit 0', journalctl: 'echo a line' });
  const env = { PATH: tools.path, XDG_CONFIG_HOME: home.folder };
  const args = ['--config', home.configFile];
  const run = (...words: string[]) => home.run([...words, ...args], env);
  return { home, tools, env, run };
}
