import { taskXml, windowsArgument } from '@inference-gateway/shared/program/daemon/scheduled-task';
import { expect, test } from 'vitest';
import { daemonSetting } from './daemon-setting.js';

test('it runs the program without a window when its user logs in, for ever', () => {
  const task = taskXml(
    daemonSetting({
      command: ['C:\\Program Files\\nodejs\\node.exe', 'C:\\agent\\bin.js', 'start'],
      logFile: 'C:\\state\\agent.log',
    }),
    'DEN-PC\\anna',
  );
  expect(task).toContain('<LogonTrigger><UserId>DEN-PC\\anna</UserId></LogonTrigger>');
  expect(task).toContain(
    '<Command>conhost.exe</Command><Arguments>--headless ' +
      '&quot;C:\\Program Files\\nodejs\\node.exe&quot; C:\\agent\\bin.js start ' +
      '--log-file C:\\state\\agent.log</Arguments>',
  );
  expect(task).toContain('<ExecutionTimeLimit>PT0S</ExecutionTimeLimit>');
  expect(task).toContain('<RestartOnFailure>');
});

test.each([
  ['plain', 'plain'],
  ['', '""'],
  ['two words', '"two words"'],
  ['a "quoted" word', '"a \\"quoted\\" word"'],
  ['C:\\two words\\', '"C:\\two words\\\\"'],
  ['back\\"slash', '"back\\\\\\"slash"'],
])('%j is written %s', (text, written) => {
  expect(windowsArgument(text)).toBe(written);
});
