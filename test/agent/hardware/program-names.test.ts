import { expect, test } from 'vitest';
import {
  DESKTOP_PROGRAMS,
  isCalled,
  isOneOf,
  MODEL_SERVERS,
} from '@inference-gateway/agent/hardware/program-names';

test.each([
  ['Xorg'],
  ['/usr/lib/xorg/Xorg'],
  ['/usr/bin/gnome-shell'],
  ['Hyprland'],
  ['C:\\Windows\\System32\\dwm.exe'],
  ['dwm.exe'],
  ['csrss'],
  ['xdg-desktop-por'],
  ['kwin_wayland --xwayland'],
])('%s draws the desktop', (program) => {
  expect(isOneOf(DESKTOP_PROGRAMS, program)).toBe(true);
});

test.each([['game'], ['xorg-game'], ['gnome'], ['python3'], ['chrome --type=g'], ['']])(
  '%j does not',
  (program) => {
    expect(isOneOf(DESKTOP_PROGRAMS, program)).toBe(false);
  },
);

test('a name of the configuration may be longer than the one that the system shows', () => {
  expect(isOneOf(['Baldurs_Gate_3.exe'], 'Baldurs_Gate_3')).toBe(true);
  expect(isOneOf(['a-very-long-program'], 'a-very-long-pro')).toBe(true);
  expect(isOneOf(['a-very-long-program'], 'a-very')).toBe(false);
});

test('what a version or a build adds to a name does not matter where it is known to come', () => {
  expect(isOneOf(MODEL_SERVERS, 'koboldcpp-linux-x64')).toBe(true);
  expect(isOneOf(MODEL_SERVERS, '/opt/koboldcpp.exe')).toBe(true);
  expect(isOneOf(MODEL_SERVERS, 'ollama-notes')).toBe(false);
});

test('a name that nobody has cut is known whole or not at all', () => {
  expect(isCalled(['text-generation-webui'], '/home/ann/text-generation-webui')).toBe(true);
  expect(isCalled(['text-generation-webui'], '/home/ann/text-generation')).toBe(false);
});
