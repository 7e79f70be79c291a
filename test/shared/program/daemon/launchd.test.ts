import { launchdPlist } from '@inference-gateway/shared/program/daemon/launchd';
import { expect, test } from 'vitest';
import { daemonSetting } from './daemon-setting.js';

const plist = launchdPlist(
  daemonSetting({
    command: ['/usr/local/bin/node', '/opt/a & b/<agent>.js', 'start'],
    environment: { PATH: '/opt/homebrew/bin:/usr/bin' },
    logFile: '/Users/anna/agent.log',
  }),
);

test('it names the program, its log and its environment', () => {
  const command = ['/usr/local/bin/node', '/opt/a &amp; b/&lt;agent&gt;.js', 'start'];
  const words = [...command, '--log-file', '/Users/anna/agent.log'];
  const strings = words.map((word) => `<string>${word}</string>`).join('');
  expect(plist).toContain(`<key>ProgramArguments</key><array>${strings}</array>`);
  expect(plist).toContain('<key>PATH</key><string>/opt/homebrew/bin:/usr/bin</string>');
});

test('it begins by itself, is brought back, and has half a minute to drain', () => {
  expect(plist).toContain('<key>RunAtLoad</key><true/>');
  expect(plist).toContain('<key>KeepAlive</key><true/>');
  expect(plist).toContain('<key>ExitTimeOut</key><integer>45</integer>');
});

test('a program that ends without a failure may stay ended, and have a number of files', () => {
  const program = { ...daemonSetting().program, restart: 'on-failure', openFiles: 4_096 } as const;
  const text = launchdPlist(daemonSetting({ program })).replaceAll('\n', '');
  expect(text).toContain('<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>');
  const files = '<dict><key>NumberOfFiles</key><integer>4096</integer></dict>';
  expect(text).toContain(`<key>SoftResourceLimits</key>${files}`);
  expect(plist).not.toContain('SoftResourceLimits');
});

test('only a service of the machine names a user', () => {
  expect(plist).not.toContain('UserName');
  const daemon = launchdPlist(daemonSetting({ scope: 'system', runAs: 'anna' }));
  expect(daemon).toContain('<key>UserName</key><string>anna</string>');
});

test('every tag that is opened is closed, in order', () => {
  const open: string[] = [];
  for (const [, close, name] of plist.matchAll(/<(\/?)([a-z]+)(?: [^>]*)?>/g)) {
    if (close === '') open.push(String(name));
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
});
