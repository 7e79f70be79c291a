import { candidatePorts, USUAL_PORTS } from '@inference-gateway/agent/backends/detection/detect';
import { expect, test } from 'vitest';

test('configured ports come first, and only those of this machine', () => {
  const ports = candidatePorts(
    [
      'http://127.0.0.1:4711/v1',
      'http://[::1]:4712',
      'http://localhost:4713',
      'http://192.168.1.7:4714',
      'https://127.0.0.1:4715',
      'http://127.0.0.1/v1',
    ],
    [5_801, 4_711],
  );
  expect(ports.slice(0, 4)).toEqual([4_711, 4_712, 4_713, 80]);
  expect(ports.slice(4)).toEqual([...USUAL_PORTS, 5_801]);
  for (const port of [4_714, 4_715]) expect(ports).not.toContain(port);
});
