/** Both programs as services of a real systemd: installed, killed, back, and gone again. */
import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { agentHome } from '../agent/cli/agent-program.js';
import { fakeCoordinator } from '../agent/cli/fake-coordinator.js';
import { programFile } from '../support/bundled-programs.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { FULL } from '../support/process-stage.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SCRIPT = fileURLToPath(new URL('../support/systemd-user.sh', import.meta.url));
const AGENT = programFile('gateway-agent');
const COORDINATOR = programFile('gateway-coordinator');

const STEPS_SECONDS = 100;
/** Starts and stops of six programs under a second systemd: a busy machine takes minutes. */
const MACHINE_STEPS_SECONDS = 220;
/** For the end of that systemd and its services. */
const CLEAN_UP_MS = 20_000;

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
  STEPS_SECONDS * 1_000 + CLEAN_UP_MS,
);

/**
 * `service install` as root, with users and a folder of units that nobody else sees. The systemd is
 * one of a user, so it gets the units of the machine from there; it has every right of root, and
 * puts all of their lines into force.
 */
const MACHINE_STEPS = `
  set -e
  mount --bind "$FILES/passwd" /etc/passwd
  mount --bind "$FILES/group" /etc/group
  mkdir -p /etc/systemd/system
  mount -t tmpfs tmpfs /etc/systemd/system
  mkdir -p "$HOME/.config/systemd"
  ln -s /etc/systemd/system "$HOME/.config/systemd/user"
  coordinator() { "$NODE" "$COORDINATOR" "$@" --data "$DATA"; }
  export PATH="$FILES/bin:$PATH"
  port="--port 0 --metrics-port 0"
  coordinator service install --run-as gateway $port --backup-folder "$COPIES" > "$HOME/unit"
  unit=$(basename "$(cat "$HOME/unit")")
  main() { systemctl show "$unit" --property=MainPID --value; }
  until [ -S "$DATA/admin.sock" ]; do sleep 0.1; done
  first=$(main)
  grep -E '^(Uid|CapBnd|NoNewPrivs|Seccomp):' "/proc/$first/status"
  coordinator user create --email anna@example.org > /dev/null
  kill -9 "$first"
  until now=$(main) && [ "$now" != 0 ] && [ "$now" != "$first" ]; do sleep 0.2; done
  echo "restarted"
  coordinator user list | cut -f 3
  systemctl start "\${unit%.service}-backup.service"
  coordinator service stop --system
  systemctl show "$unit" --property=Result --value
  systemctl start "\${unit%.service}-backup.service"
  for archive in "$COPIES"/*; do
    stat --format '%U %a' "$archive"
    "$NODE" "$COORDINATOR" restore "$archive" --verify 2> /dev/null
  done | uniq
  coordinator service uninstall --system
  ls /etc/systemd/system | wc -l
`;

/** The stand-in passes the questions about the machine on to the systemd that there is. */
const SYSTEMCTL = '#!/bin/sh\nexec /usr/bin/systemctl --user "$@"\n';

test.runIf(FULL && canHaveSystemd())(
  'a coordinator of the machine runs with all that is denied to it, and so do its backups',
  async () => {
    const top = await temporaryFolder();
    await chmod(top, 0o755);
    for (const [name, row] of Object.entries(GATEWAY_USER)) {
      await writeFile(join(top, name), `${await readFile(`/etc/${name}`, 'utf8')}${row}\n`);
    }
    await mkdir(join(top, 'bin'));
    await writeFile(join(top, 'bin', 'systemctl'), SYSTEMCTL, { mode: 0o755 });
    await mkdir(join(top, 'home'));
    // A service that has its own /tmp does not see the folders of tests.
    const data = await mkdtemp('/var/lib/gateway-test-');
    onTestFinished(() => rm(data, { recursive: true, force: true }));
    await chmod(data, 0o755);
    const paths = { FILES: top, DATA: join(data, 'data'), COPIES: join(data, 'copies') };
    const steps = { steps: MACHINE_STEPS, seconds: MACHINE_STEPS_SECONDS };
    const { stdout, stderr } = await runScript(join(top, 'home'), steps, paths);
    const facts = stdout.trim().replaceAll('\t', ' ').split('\n');
    expect(facts, stderr).toEqual([
      `Uid: ${Array.from({ length: 4 }, () => UID).join(' ')}`,
      'CapBnd: 0000000000000000',
      'NoNewPrivs: 1',
      'Seccomp: 2',
      'restarted',
      'anna@example.org',
      'success',
      'gateway 600',
      '0',
    ]);
    expect(stderr).toContain('-backup.timer are removed. The data stays.');
  },
  MACHINE_STEPS_SECONDS * 1_000 + CLEAN_UP_MS,
);

const UID = 64_321;
const GATEWAY_USER = {
  passwd: `gateway:x:${UID}:${UID}::/:/usr/sbin/nologin`,
  group: `gateway:x:${UID}:`,
};

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
  return runScript(home, { steps: STEPS, seconds: STEPS_SECONDS }, { AGENT, CONFIG: config });
}

function runScript(
  home: string,
  { steps, seconds }: { readonly steps: string; readonly seconds: number },
  variables: Readonly<Record<string, string>>,
): Promise<{ stdout: string; stderr: string }> {
  const env = { PATH: process.env['PATH'], NODE: process.execPath, COORDINATOR, ...variables };
  const args = ['--mount', 'bash', SCRIPT, home, `${seconds}`, 'bash', '-c', steps];
  return new Promise((done) => {
    execFile('unshare', args, { env }, (_error, stdout, stderr) => done({ stdout, stderr }));
  });
}
