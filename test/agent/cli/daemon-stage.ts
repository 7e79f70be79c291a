/** A home on a Linux whose tools for services are stand-ins that keep what they are asked. */
import { fakeTools } from '../../support/fake-tools.js';
import { agentHome } from './agent-program.js';

export const LLM = { type: 'llm', backend: 'openai', base_url: 'http://127.0.0.1:9/v1' };
const RUNNING = 'case "$*" in *show*) printf "ActiveState=active\\nSubState=running\\n";; esac';

/** `systemctl` is a script for the shell: it runs, unless told otherwise. */
export async function daemonStage(systemctl = RUNNING) {
  const home = await agentHome();
  const tools = await fakeTools({ systemctl, loginctl: 'exit 0', journalctl: 'echo a line' });
  const env = { PATH: tools.path, XDG_CONFIG_HOME: home.folder };
  const args = ['--config', home.configFile];
  const run = (...words: string[]) => home.run([...words, ...args], env);
  return { home, tools, env, run };
}
