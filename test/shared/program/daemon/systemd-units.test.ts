import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { COORDINATOR_SERVICE } from '@inference-gateway/coordinator/cli/daemon/daemon-setting';
import type { DaemonProgram } from '@inference-gateway/shared/program/daemon/daemon';
import {
  serviceUnit,
  timedUnit,
  timerUnit,
} from '@inference-gateway/shared/program/daemon/systemd-units';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../support/temporary-folder.js';
import { daemonSetting } from './daemon-setting.js';

const SYSTEM = daemonSetting({ scope: 'system', runAs: userInfo().username });
const ODD_PATH = '/home/a b/50%/"x"/$HOME/c\\d/config.json';

test('a unit starts the program with its configuration, and brings it back', () => {
  const unit = serviceUnit(daemonSetting());
  const args = '"/opt/agent/bin.js" "start" "--config" "/home/a/config.json"';
  expect(unit).toContain(`ExecStart="${process.execPath}" ${args}\n`);
  expect(unit).toContain('Environment="PATH=/usr/local/bin:/usr/bin"\n');
  expect(unit).toContain('Restart=always\n');
  expect(unit).toContain('StartLimitIntervalSec=0\n');
  expect(unit).toContain('RestartPreventExitStatus=2 3 4 7\n');
  expect(unit).toContain('WantedBy=default.target\n');
});

/** Lines of the units of the agent, and of a program that is allowed nothing beyond its folder. */
const PLAIN_PROGRAM: DaemonProgram = {
  name: 'plain',
  title: 'A plain program',
  restart: 'on-failure',
  lastingExitCodes: [2, 10],
  nice: 0,
  openFiles: 1_024,
  allowed: { devices: false, processes: false, homes: false },
};
const PLAIN = daemonSetting({
  program: PLAIN_PROGRAM,
  scope: 'system',
  runAs: 'anna',
  command: ['/usr/bin/node', '/opt/plain.js'],
  writable: ['/var/lib/plain'],
});

test.each([
  // Every unit.
  ['UMask=0077', true, true, true],
  ['NoNewPrivileges=true', true, true, true],
  ['SystemCallFilter=@system-service @pkey', true, true, true],
  ['SystemCallFilter=~@privileged @resources', true, true, true],
  ['SystemCallErrorNumber=EPERM', true, true, true],
  // Those of the machine.
  ['CapabilityBoundingSet=', false, true, true],
  ['ProtectSystem=strict', false, true, true],
  ['PrivateTmp=true', false, true, true],
  ['PrivateMounts=true', false, true, true],
  // What the agent needs: cards, the programs of others, the homes.
  ['PrivateDevices=true', false, false, true],
  ['ProtectClock=true', false, false, true],
  ['ProtectProc=invisible', false, false, true],
  ['ProtectHome=read-only', false, true, false],
  ['ProtectHome=true', false, false, true],
  ['Nice=5', true, true, false],
  ['LimitNOFILE=1024', false, false, true],
  ['Restart=always', true, true, false],
  ['Restart=on-failure', false, false, true],
  ['RestartPreventExitStatus=2 3 4 7', true, true, false],
  ['RestartPreventExitStatus=2 10', false, false, true],
  ['RequiresMountsFor="/var/lib/plain"', false, false, true],
])('%s: agent of a user %s, of the machine %s; a plain program %s', (line, ...expected) => {
  const units = [daemonSetting(), SYSTEM, PLAIN].map(serviceUnit);
  expect(units.map((unit) => unit.split('\n').includes(line))).toEqual(expected);
});

test('nothing denies what V8, the cards, the callers or other programs of the user need', () => {
  for (const setting of [daemonSetting(), SYSTEM, PLAIN]) {
    const unit = serviceUnit(setting);
    expect(unit).not.toMatch(/MemoryDenyWriteExecute|PrivateNetwork|IPAddressDeny|RemoveIPC/);
    expect(unit).not.toMatch(/PrivateUsers|ProcSubset|Device(Allow|Policy)/);
  }
});

test.each([
  ['the program', { command: ['/root/.nvm/node', '/opt/plain.js'] }],
  ['its folder', { writable: ['/home/anna/data'] }],
  ['a file that a variable names', { environment: { NODE_EXTRA_CA_CERTS: '/home/anna/ca.pem' } }],
] as const)('homes may be read if %s lies in one', (_, change) => {
  expect(serviceUnit({ ...PLAIN, ...change })).toContain('ProtectHome=read-only\n');
});

test.each([
  ['the program', { command: ['/usr/bin/node', '/tmp/clone/plain.js'] }],
  ['node', { command: ['/var/tmp/node', '/opt/plain.js'] }],
  ['its folder', { writable: ['/tmp/data'] }],
] as const)(
  'the service shares the temporary folders of the machine if %s is in one',
  (_, change) => {
    const unit = serviceUnit({ ...PLAIN, ...change });
    expect(unit).not.toContain('PrivateTmp');
    expect(unit).toContain('ReadWritePaths=/tmp /var/tmp\n');
  },
);

const COPY = {
  suffix: 'backup',
  title: 'A copy',
  command: ['/usr/bin/node', '/opt/plain.js', 'copy'],
  environment: { TMPDIR: '/var/tmp' },
  writable: ['/var/lib/plain', '/copies'],
  at: '03:30',
} as const;

test('a timer runs its command once a day, without a network, beside the service', () => {
  expect(timerUnit(PLAIN, COPY)).toContain(
    '[Timer]\nOnCalendar=*-*-* 03:30:00\nPersistent=true\nRandomizedDelaySec=10min\n',
  );
  const unit = timedUnit(PLAIN, COPY);
  expect(unit).toContain('Type=oneshot\nExecStart="/usr/bin/node" "/opt/plain.js" "copy"\n');
  expect(unit).toContain('User=anna\n');
  expect(unit).toContain('RestrictAddressFamilies=AF_UNIX\n');
  expect(unit).toContain('PrivateNetwork=true\n');
  expect(unit).toContain('ReadWritePaths="/copies"\nPrivateTmp=true\n');
  // It runs although the service is stopped.
  expect(unit).not.toMatch(/^(Requires|After|BindsTo|PartOf)=/m);
  expect(timedUnit({ ...PLAIN, scope: 'user' }, COPY)).not.toContain('PrivateNetwork');
});

test('a unit of the machine runs as the owner of the configuration and writes nothing else', () => {
  const unit = serviceUnit({ ...SYSTEM, runAs: 'anna', groups: ['video', 'render'] });
  expect(unit).toContain('User=anna\n');
  expect(unit).toContain('SupplementaryGroups=video render\n');
  expect(unit).toContain('ProtectSystem=strict\n');
  expect(unit).toContain('ReadWritePaths="/home/a"\n');
  expect(unit).toContain('WantedBy=multi-user.target\n');
});

test('what systemd would read as a quote, a variable or a specifier is escaped', () => {
  const command = ['/usr/bin/node', ODD_PATH] as const;
  const unit = serviceUnit(daemonSetting({ command, environment: { NAME: '100% "$5"' } }));
  expect(unit).toContain('"/home/a b/50%%/\\"x\\"/$$HOME/c\\\\d/config.json"\n');
  expect(unit).toContain('Environment="NAME=100%% \\"$5\\""\n');
});

/** Without systemd, units cannot be verified. */
describe.runIf(versionOf('systemd-analyze') > 0)('systemd finds no fault', () => {
  test.each([
    ['of a user', daemonSetting(), ['--user']],
    ['of the machine', SYSTEM, []],
    ['with odd names', daemonSetting({ command: [process.execPath, ODD_PATH] }), ['--user']],
  ] as const)('in a unit %s', async (_name, setting, scope) => {
    const folder = await temporaryFolder();
    const file = join(folder, 'gateway-agent.service');
    await writeFile(file, serviceUnit(setting));
    expect(await verify([...scope, file])).toEqual({ code: 0, complaints: [] });
  });

  test('and would find one', async () => {
    const file = join(await temporaryFolder(), 'gateway-agent.service');
    await writeFile(file, serviceUnit(daemonSetting({ command: ['no/absolute/path'] })));
    expect((await verify(['--user', file])).complaints).not.toEqual([]);
  });
});

/** From 0, safe, to 10. docs/cli says what keeps them above 0. */
const MAX_EXPOSURE = 3;

/** The first version that reads files instead of asking a running systemd. */
describe.runIf(versionOf('systemd-analyze') >= 250)('systemd finds little exposed', () => {
  const agent = daemonSetting({ scope: 'system', runAs: 'anna', groups: ['video', 'render'] });
  const coordinator = { ...PLAIN, program: COORDINATOR_SERVICE };
  test.each([
    ['the agent', serviceUnit(agent)],
    ['the coordinator', serviceUnit(coordinator)],
    ['a coordinator in a home', serviceUnit({ ...coordinator, writable: ['/home/a/data'] })],
    ['its backups', timedUnit(coordinator, COPY)],
  ])('by the unit of %s', async (_, unit) => {
    expect(await exposureOf(unit)).toBeLessThanOrEqual(MAX_EXPOSURE);
  });

  test('and would find much in a unit without the filter of system calls', async () => {
    const unfiltered = serviceUnit(agent).replaceAll(/^SystemCall.*\n/gm, '');
    expect(await exposureOf(unfiltered)).toBeGreaterThan(MAX_EXPOSURE);
  });
});

async function exposureOf(unit: string): Promise<number> {
  const file = join(await temporaryFolder(), 'gateway.service');
  await writeFile(file, unit);
  const args = ['security', '--offline=true', '--no-pager', file];
  const told = execFileSync('systemd-analyze', args, { encoding: 'utf8', stdio: 'pipe' });
  return Number(/Overall exposure level for \S+: ([\d.]+)/.exec(told)?.[1]);
}

/** 0 if it is not installed. */
function versionOf(tool: string): number {
  try {
    const told = execFileSync(tool, ['--version'], { encoding: 'utf8', stdio: 'pipe' });
    return Number(/^systemd (\d+)/.exec(told)?.[1]);
  } catch {
    return 0;
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
