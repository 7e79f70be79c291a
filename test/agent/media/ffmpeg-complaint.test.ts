import { readComplaint } from '@inference-gateway/agent/media/ffmpeg';
import { expect, test } from 'vitest';

const DAMAGED = 'Error while decoding stream #0:0: Invalid data found when processing input';

test.each([
  '[mov,mp4 @ 0x15502c80] moov atom not found\nfile:input: Invalid data found',
  "Stream map '0:a:0' matches no streams.\nTo ignore this, add a trailing '?' to the map.",
  'file:input: End of file',
  'file:input: Invalid argument',
  `${DAMAGED}\n[graph_0_in_0_0 @ 0xf0a2cc0] Error applying options to the filter.`,
])('this is said of the sound: %s', (told) => {
  const { about, text } = readComplaint(told, 1);
  expect(about).toBe('input');
  expect(text).not.toMatch(/0x|trailing|\.$/);
});

test.each([
  ['av_interleaved_write_frame(): No space left on device', /No space left on device$/],
  ['[out#0/wav @ 0x55] Error writing trailer: Input/output error', /^Error writing trailer/],
  ['file:output: Permission denied', /Permission denied$/],
  ['file:input: Permission denied', /Permission denied$/],
  ["Unknown encoder 'libopus'", /^Unknown encoder 'libopus'$/],
  ['file:input: Cannot allocate memory', /Cannot allocate memory$/],
  ['Something that nobody has heard of', /^Something/],
  [`${DAMAGED}\nCould not write header: No space left on device\n--`, /No space left/],
  ['', /^exit code 1$/],
])('this is said of the machine: %s', (told, text) => {
  expect(readComplaint(told, 1)).toEqual({ about: 'machine', text: expect.stringMatching(text) });
});

test('no path of this machine is told', () => {
  const told = "/home/somebody/ffmpeg: cannot open '/opt/lib/libx.so': no such file";
  expect(readComplaint(told, 127).text).toBe("(a path): cannot open '(a path)': no such file");
});
