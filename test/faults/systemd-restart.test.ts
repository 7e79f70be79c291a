/** The agent as a service of a real systemd: installed, killed, back, and gone without a trace. */
import { execFile, execFileSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { agentHome } from '../agent/cli/agent-program.js';
import { fakeCoordinator } from '../agent/cli/fake-coordinator.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';

const SCRIPT = fileURLToPath(new URL('../support/systemd-user.sh', import.meta.url));
const AGENT = fileURLToPath(new URL('../../packages/agent/bin/gateway-agent.js', import.meta.url));

/** `$1` is node and `$2` the agent. Each line that is printed is one fact. */
const STEPS = `
  agent() { local verb="$1"; shift; "$NODE" "$AGENT" $verb "$@" --config "$CONFIG"; }
  agent 'service install' --user > "$HOME/unit"
  unit=$(basename "$(cat "$HOME/unit")")
  main() { systemctl --user show "$unit" --property=MainPID --value; }
  agent wait --timeout 30s
  first=$(main)
  kill -9 "$first"
  until now=$(main) && [ "$now" != 0 ] && [ "$now" != "$first" ]; do sleep 0.2; done
  echo "restarted"
  agent wait --timeout 30s
  agent 'service status' --json
  agent 'service stop'
  agent 'service status' > /dev/null 2>&1 || echo "status exits $?"
  agent 'service uninstall'
  systemctl --user list-unit-files --no-legend "$unit" | wc -l
`;

/** As root and with systemd installed, a systemd of the test's own can run. */
test.runIf(canHaveSystemd())(
  'a service is online by itself, back after SIGKILL, and leaves nothing behind',
  async () => {
    const home = await agentHome();
    const { origin, hellos } = await fakeCoordinator();
    const local = await startFakeOpenAi();
    onTestFinished(() => local.close());
    const llm = { type: 'llm', backend: 'openai', base_url: local.baseUrl };
    await home.enrolAt(origin, [llm]);
    const { stdout, stderr } = await runSteps(home.folder, home.configFile);
    const online = `online as den-pc at ${origin}`;
    const file = (await readFile(`${home.folder}/unit`, 'utf8')).trim();
    const status = JSON.stringify({ file, running: true, detail: 'active (running)' });
    const facts = [online, 'restarted', online, status, 'status exits 9', '0'];
    expect(stdout.trim().split('\n'), stderr).toEqual(facts);
    expect(hellos).toHaveLength(2);
    expect(await readdir(`${home.folder}/.config/systemd/user`)).toEqual([]);
  },
  60_000,
);

function canHaveSystemd(): boolean {
  try {
    execFileSync('unshare', ['--mount', '/usr/lib/systemd/systemd', '--version'], {
      stdio: 'ignore',
    });
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

function runSteps(home: string, config: string): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], NODE: process.execPath, AGENT, CONFIG: config };
  const args = ['--mount', 'bash', SCRIPT, home, 'bash', '-c', STEPS];
  return new Promise((done) => {
    execFile('unshare', args, { env }, (_error, stdout, stderr) => done({ stdout, stderr }));
  });
}
