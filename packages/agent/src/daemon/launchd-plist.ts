/** The text of a property list for launchd. `man launchd.plist` explains each key. */
import { escapeXml } from './escape-xml.js';
import type { DaemonSetting } from './daemon.js';

/** launchd keeps no log, so the agent writes one; what Node says at its end goes beside it. */
export function launchdPlist(setting: DaemonSetting): string {
  const { name, command, environment, runAs, logFile } = setting;
  const entries = [
    ['Label', text(name)],
    ['ProgramArguments', list([...command, '--log-file', logFile].map(text))],
    ['EnvironmentVariables', dictionary(Object.entries(environment).map(textEntry))],
    ...(runAs === null ? [] : [['UserName', text(runAs)] as const]),
    ['RunAtLoad', '<true/>'],
    ['KeepAlive', '<true/>'],
    ['ThrottleInterval', integer(5)],
    ['ExitTimeOut', integer(45)],
    ['ProcessType', text('Background')],
    ['Umask', integer(0o077)],
    ['StandardErrorPath', text(`${logFile}.crash`)],
  ] as const;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ' +
      '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    dictionary(entries),
    '</plist>',
    '',
  ].join('\n');
}

function dictionary(entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([key, value]) => `<key>${escapeXml(key)}</key>${value}`);
  return `<dict>\n${lines.join('\n')}\n</dict>`;
}

function list(items: readonly string[]): string {
  return `<array>${items.join('')}</array>`;
}

function text(value: string): string {
  return `<string>${escapeXml(value)}</string>`;
}

function integer(value: number): string {
  return `<integer>${value}</integer>`;
}

function textEntry([key, value]: [string, string]): readonly [string, string] {
  return [key, text(value)];
}
