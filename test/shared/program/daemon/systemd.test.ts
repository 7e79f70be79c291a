import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { systemdUnit } from '@inference-gateway/shared/program/daemon/systemd';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { daemonSetting } from './daemon-setting.js';

const SYSTEM = daemonSetting({ scope: 'system', runAs: userInfo().username });
const ODD_PATH = '/home/a b/50%/"x"/$HOME/c\\d/config.json';

test('a unit starts the program with its configuration, and brings it back', () => {
  const unit = systemdUnit(daemonSetting());
  const args = '"/opt/agent/bin.js" "start" "--config" "/home/a/config.json"';
  expect(unit).toContain(`ExecStart="${process.execPath}" ${args}\n`);
  expect(unit).toContain('Environment="PATH=/usr/local/bin:/usr/bin"\n');
  expect(unit).toContain('Restart=always\n');
  expect(unit).toContain('StartLimitIntervalSec=0\n');
  expect(unit).toContain('RestartPreventExitStatus=2 3 4 7\n');
  expect(unit).toContain('WantedBy=default.target\n');
});

test.each(['user', 'system'] as const)(
  'a unit of the %s is hardened, but for the cards',
  (scope) => {
    const unit = systemdUnit(scope === 'user' ? daemonSetting() : SYSTEM);
    expect(unit).toContain('NoNewPrivileges=true\n');
    // V8 makes code as it runs; cards are devices; game mode looks at other programs.
    expect(unit).not.toMatch(/MemoryDenyWriteExecute|PrivateDevices|ProtectProc|PrivateNetwork/);
    // Whatever allows one device denies all others: ProtectClock allows that of the clock.
    expect(unit).not.toMatch(/ProtectClock|Device(Allow|Policy)/);
  },
);

test('a unit of the machine runs as the owner of the configuration and writes nothing else', () => {
  const unit = systemdUnit({ ...SYSTEM, runAs: 'anna', groups: ['video', 'render'] });
  expect(unit).toContain('User=anna\n');
  expect(unit).toContain('SupplementaryGroups=video render\n');
  expect(unit).toContain('ProtectSystem=strict\n');
  expect(unit).toContain('ReadWritePaths="/home/a"\n');
  expect(unit).toContain('WantedBy=multi-user.target\n');
});

test('what systemd would read as a quote, a variable or a specifier is escaped', () => {
  const command = ['/usr/bin/node', ODD_PATH] as const;
  const unit = systemdUnit(daemonSetting({ command, environment: { NAME: '100% "$5"' } }));
  expect(unit).toContain('"/home/a b/50%%/\\"x\\"/$$HOME/c\\\\d/config.json"\n');
  expect(unit).toContain('Environment="NAME=100%% \\"$5\\""\n');
});

/** Without systemd, units cannot be verified. */
describe.runIf(isInstalled('systemd-analyze'))('systemd finds no fault', () => {
  test.each([
    ['of a user', daemonSetting(), ['--user']],
    ['of the machine', SYSTEM, []],
    ['with odd names', daemonSetting({ command: [process.execPath, ODD_PATH] }), ['--user']],
  ] as const)('in a unit %s', async (_name, setting, scope) => {
    const folder = await temporaryFolder();
    const file = join(folder, 'gateway-agent.service');
    await writeFile(file, systemdUnit(setting));
    expect(await verify([...scope, file])).toEqual({ code: 0, complaints: [] });
  });

  test('and would find one', async () => {
    const file = join(await temporaryFolder(), 'gateway-agent.service');
    await writeFile(file, systemdUnit(daemonSetting({ command: ['no/absolute/path'] })));
    expect((await verify(['--user', file])).complaints).not.toEqual([]);
  });
});

function isInstalled(tool: string): boolean {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Verdict {
  readonly code: unknown;
  readonly complaints: readonly string[];
}

/** What is said of other units of this machine does not count. */
async function verify(args: readonly string[]): Promise<Verdict> {
  // It would speak for a manager of a user, which has a folder like this.
  const env = { ...process.env, XDG_RUNTIME_DIR: await temporaryFolder() };
  return new Promise((done) => {
    execFile('systemd-analyze', ['verify', '--man=no', ...args], { env }, (error, ...texts) => {
      const lines = texts.join('\n').split('\n');
      const complaints = lines.filter((line) => line.includes('gateway-agent'));
      done({ code: error?.code ?? 0, complaints });
    });
  });
}
