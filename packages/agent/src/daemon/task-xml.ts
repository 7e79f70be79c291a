/** The text of a scheduled task for Windows. */
import { escapeXml } from './escape-xml.js';
import type { DaemonSetting } from './daemon.js';

/**
 * Begins with its user's login, without a window: `conhost --headless` gives the program a console
 * that nobody sees. It is brought back a minute after its end, for as long as it takes.
 */
export function taskXml({ command, logFile }: DaemonSetting, user: string): string {
  const args = ['--headless', ...command, '--log-file', logFile].map(windowsArgument).join(' ');
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.3" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    '<RegistrationInfo><Description>Inference Gateway agent</Description></RegistrationInfo>',
    `<Triggers><LogonTrigger><UserId>${escapeXml(user)}</UserId></LogonTrigger></Triggers>`,
    '<Principals><Principal id="Author">',
    `<UserId>${escapeXml(user)}</UserId><LogonType>InteractiveToken</LogonType>`,
    '<RunLevel>LeastPrivilege</RunLevel>',
    '</Principal></Principals>',
    '<Settings>',
    '<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>',
    '<DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>',
    '<StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>',
    '<StartWhenAvailable>true</StartWhenAvailable>',
    '<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>',
    '<Priority>7</Priority>',
    '<RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>',
    '</Settings>',
    '<Actions Context="Author"><Exec>',
    `<Command>conhost.exe</Command><Arguments>${escapeXml(args)}</Arguments>`,
    '</Exec></Actions>',
    '</Task>',
    '',
  ].join('\r\n');
}

/** As the C runtime reads a command line: backslashes count only before a quote. */
export function windowsArgument(text: string): string {
  if (/^[^\s"]+$/.test(text)) return text;
  return `"${text.replaceAll(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}
