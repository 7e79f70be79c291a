import { exposition } from '@inference-gateway/agent/local-http/agent-metrics';
import { expect, test } from 'vitest';
import { parsePrometheus, valueOf } from '../../support/prometheus-text.js';

test('each metric is told with its help, its type and its samples', () => {
  const samples = [{ labels: { service: 'llm-1', kind: 'job' }, value: 3 }];
  const text = exposition([
    { name: 'a_total', help: 'Runs.', type: 'counter', samples },
    { name: 'b', help: 'Now.', type: 'gauge', samples: [{ value: 0.25 }] },
  ]);
  expect(text.split('\n')).toEqual([
    '# HELP a_total Runs.',
    '# TYPE a_total counter',
    'a_total{service="llm-1",kind="job"} 3',
    '# HELP b Now.',
    '# TYPE b gauge',
    'b 0.25',
    '',
  ]);
});

test('what somebody named stays one value of one line', () => {
  const service = 'a"b\\c';
  const broken = 'two\nlines';
  const samples = [service, broken].map((name) => ({ labels: { service: name }, value: 1 }));
  const text = exposition([{ name: 'x', help: 'X.', type: 'gauge', samples }]);
  expect(valueOf(parsePrometheus(text), 'x', { service })).toBe(1);
  expect(text).toContain('x{service="two\\nlines"} 1\n');
});

test('what is not known is left out', () => {
  expect(exposition([{ name: 'x', help: 'X.', type: 'gauge', samples: [] }])).toBe('');
});
